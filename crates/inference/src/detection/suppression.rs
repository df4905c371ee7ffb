//! Non-maximum suppression: of overlapping boxes, the one with the highest confidence is kept.

use super::{CANDIDATES_MAX, DETECTIONS_MAX, Detection};

/// Keeps each box of `found`, per class and in descending confidence, that does not overlap by more
/// than `most` with a kept box. Equal confidences keep their order.
pub(super) fn suppress(mut found: Vec<Detection>, most: f32) -> Vec<Detection> {
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    found.truncate(CANDIDATES_MAX);
    let mut kept: Vec<Detection> = Vec::new();
    for candidate in found {
        let covers = |other: &Detection| {
            other.class == candidate.class && overlap(other.sides, candidate.sides) > most
        };
        if !kept.iter().any(covers) {
            kept.push(candidate);
            if kept.len() == DETECTIONS_MAX {
                break;
            }
        }
    }
    kept
}

/// Intersection over union of two boxes (left, top, right, bottom), from 0 to 1. Boxes without an
/// area overlap with nothing.
pub fn overlap(a: [f32; 4], b: [f32; 4]) -> f32 {
    let area =
        |[left, top, right, bottom]: [f32; 4]| (right - left).max(0.0) * (bottom - top).max(0.0);
    let common = area([a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])]);
    let union = area(a) + area(b) - common;
    if common > 0.0 { common / union } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(left: f32, class: u32, confidence: f32) -> Detection {
        Detection { sides: [left, 0.0, left + 10.0, 10.0], class, confidence }
    }

    #[test]
    fn overlap_is_what_is_common_of_what_is_covered() {
        // 5 x 10 of 10 x 10 + 10 x 10 - 5 x 10.
        let shifted = overlap([0.0, 0.0, 10.0, 10.0], [5.0, 0.0, 15.0, 10.0]);
        assert!((shifted - 1.0 / 3.0).abs() < 1e-6);
        assert_eq!(overlap([0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 10.0]), 1.0);
        assert_eq!(overlap([0.0, 0.0, 10.0, 10.0], [10.0, 0.0, 20.0, 10.0]), 0.0);
        assert_eq!(overlap([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]), 0.0);
        // Inside another box: its share of that box.
        assert_eq!(overlap([0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 5.0, 5.0]), 0.25);
    }

    #[test]
    fn the_surer_of_two_stays_if_they_are_of_one_class() {
        // A shift of 1 of 10 overlaps by 9 / 11 = 0.82, one of 2 by 8 / 12 = 0.67.
        let boxes = vec![found(0.0, 0, 0.6), found(1.0, 0, 0.9), found(1.0, 1, 0.5)];
        assert_eq!(suppress(boxes, 0.7), [found(1.0, 0, 0.9), found(1.0, 1, 0.5)]);
        let apart = vec![found(0.0, 0, 0.9), found(2.0, 0, 0.6)];
        assert_eq!(suppress(apart.clone(), 0.7), apart);
    }

    #[test]
    fn what_was_suppressed_suppresses_nothing() {
        // Each overlaps only with its neighbour: the middle one goes, the last one stays.
        let chain = vec![found(0.0, 0, 0.9), found(1.5, 0, 0.8), found(3.0, 0, 0.7)];
        assert_eq!(suppress(chain, 0.7), [found(0.0, 0, 0.9), found(3.0, 0, 0.7)]);
    }

    #[test]
    fn there_is_an_end_to_what_an_image_holds() {
        let many = (0..2_000).map(|i| found(20.0 * i as f32, 0, 0.5)).collect();
        let kept = suppress(many, 0.7);
        assert_eq!(kept.len(), DETECTIONS_MAX);
        assert_eq!(kept[0].sides[0], 0.0);
    }
}
