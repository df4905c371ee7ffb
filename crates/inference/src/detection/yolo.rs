//! The output of YOLO models since version 8, as exported by Ultralytics.

use super::suppression::suppress;
use super::{Detection, Thresholds};

/// The shape of an output [1, 4 + classes, places]: for each place the centre, width and height of
/// a box in input pixels, and a confidence per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// At least 1.
    pub classes: usize,
    /// 8,400 for an input of 640 x 640.
    pub places: usize,
}

impl Head {
    /// The head for an output of this shape; `None` if it is another kind of output.
    pub fn of_shape(shape: &[i64]) -> Option<Head> {
        let [1, channels, places] = *shape else { return None };
        let (channels, places) = (usize::try_from(channels).ok()?, usize::try_from(places).ok()?);
        // There are more places than channels; the reverse is the output of another family.
        (channels > 4 && places > channels).then(|| Head { classes: channels - 4, places })
    }
}

/// The objects in an output, highest confidence first. Sides are in input pixels. The class of a
/// place is that with the highest confidence, the first of equals; non-finite values are ignored.
///
/// # Panics
/// If the length of `output` does not match `head`.
pub fn decode(output: &[f32], head: Head, thresholds: Thresholds) -> Vec<Detection> {
    let Head { classes, places } = head;
    assert_eq!(output.len(), (4 + classes) * places, "an output has the size of its head");
    let mut surest = vec![(thresholds.confidence, None); places];
    let (boxes, confidences) = output.split_at(4 * places);
    for (class, row) in (0_u32..).zip(confidences.chunks_exact(places)) {
        for (best, confidence) in surest.iter_mut().zip(row) {
            if *confidence > best.0 {
                *best = (*confidence, Some(class));
            }
        }
    }
    let found = surest.iter().enumerate().filter_map(|(place, (confidence, class))| {
        let [x, y, width, height] = [0, 1, 2, 3].map(|row| boxes[row * places + place]);
        let (half_width, half_height) = (width / 2.0, height / 2.0);
        let sides = [x - half_width, y - half_height, x + half_width, y + half_height];
        let finite = confidence.is_finite() && sides.iter().all(|side| side.is_finite());
        let class = (*class).filter(|_| finite)?;
        Some(Detection { sides, class, confidence: *confidence })
    });
    suppress(found.collect(), thresholds.overlap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_known_by_its_shape() {
        assert_eq!(Head::of_shape(&[1, 84, 8400]), Some(Head { classes: 80, places: 8400 }));
        for other in [&[1, 1000][..], &[1, 300, 6], &[2, 84, 8400], &[1, 4, 8400], &[1, -1, -1]] {
            assert_eq!(Head::of_shape(other), None, "{other:?}");
        }
    }

    /// Three classes at seven places, one test case each.
    #[test]
    fn places_become_boxes_by_hand() {
        let head = Head { classes: 3, places: 8 };
        let rows = [
            // x, y, width, height
            [50.0, 51.0, 300.0, 10.0, 10.0, 10.0, 90.0, 90.0],
            [40.0, 40.0, 300.0, 10.0, 10.0, 10.0, 90.0, 90.0],
            [20.0, 20.0, 40.0, 4.0, 4.0, f32::NAN, 8.0, 8.0],
            [10.0, 10.0, 60.0, 4.0, 4.0, 4.0, 8.0, 8.0],
            // confidences of class 0, 1, 2
            [0.90, 0.80, 0.10, 0.25, 0.00, 0.9, 0.3, 0.0],
            [0.10, 0.10, 0.70, 0.00, 0.00, 0.9, 0.3, 0.0],
            [0.10, 0.10, 0.60, 0.10, f32::NAN, 0.9, 0.2, f32::INFINITY],
        ];
        let found = decode(&rows.concat(), head, Thresholds::default());
        let expected = [
            // The second place overlaps with the first (19 of 21 columns) and is of its class.
            Detection { sides: [40.0, 35.0, 60.0, 45.0], class: 0, confidence: 0.9 },
            Detection { sides: [280.0, 270.0, 320.0, 330.0], class: 1, confidence: 0.7 },
            // 0.25 does not exceed 0.25; NaN is ignored; of equals the first class counts.
            Detection { sides: [86.0, 86.0, 94.0, 94.0], class: 0, confidence: 0.3 },
        ];
        assert_eq!(found, expected);
    }
}
