//! BOLA-BASIC: by the buffer alone.

use super::Situation;
use crate::streaming::player::PIECE;
use crate::streaming::storage::Resolution;

/// BOLA-BASIC of Spiteri, Urgaonkar and Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for
/// Online Videos" (INFOCOM 2016), section III.
///
/// With `Q` pieces in the buffer, sizes `S` and utilities `v = ln(S / S_lowest)`, the resolution is
/// the one with the greatest `(V (v + gp) - Q) / S`. `gp`, the weight of smooth playing against
/// resolution, is 5 as in the paper's evaluation; `V = (Q_max - 1) / (v_highest + gp)` is the
/// largest at which the buffer never exceeds `Q_max`. Where the paper waits for the buffer to
/// shrink, the player's own limit does so.
pub(super) fn choose(situation: &Situation<'_>) -> Resolution {
    let pieces = |span: std::time::Duration| span.as_secs_f64() / PIECE.as_secs_f64();
    let sizes = situation.sizes.map(|size| size as f64);
    let utility = |resolution: Resolution| libm::log(sizes[resolution.index()] / sizes[0]);
    let highest = utility(Resolution::Qhd);
    let control = (pieces(situation.limit) - 1.0).max(0.0) / (highest + SMOOTHNESS);
    let score = |resolution: Resolution| {
        let gain = control * (utility(resolution) + SMOOTHNESS) - pieces(situation.buffered);
        gain / sizes[resolution.index()]
    };
    let better = |best: Resolution, other: Resolution| match score(other) > score(best) {
        true => other,
        false => best,
    };
    Resolution::ALL.into_iter().fold(Resolution::Hd, better)
}

/// `gamma p` of the paper.
const SMOOTHNESS: f64 = 5.0;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::situation;
    use super::*;

    fn chosen(buffered: f64, limit: u64) -> Resolution {
        choose(&Situation {
            buffered: Duration::from_secs_f64(buffered),
            limit: Duration::from_secs(limit),
            ..situation()
        })
    }

    /// Sizes 1, 2 and 4, so utilities 0, 0.693 and 1.386, and with ten pieces
    /// V = 9 / 6.386 = 1.409. Gains at an empty buffer: 7.046, 8.023, 9.000.
    ///
    /// HD and FHD are equally good where 7.046 - Q = (8.023 - Q) / 2, that is Q = 6.069; FHD and
    /// QHD where (8.023 - Q) / 2 = (9 - Q) / 4, that is Q = 7.046.
    #[test]
    fn resolutions_change_where_the_formula_says() {
        for (buffered, expected) in [
            (0.0, Resolution::Hd),
            (6.0, Resolution::Hd),
            (6.06, Resolution::Hd),
            (6.08, Resolution::Fhd),
            (7.04, Resolution::Fhd),
            (7.06, Resolution::Qhd),
            (8.9, Resolution::Qhd),
        ] {
            assert_eq!(chosen(buffered, 10), expected, "{buffered} s");
        }
    }

    /// Twice the room less the piece: V = 19 / 6.386 = 2.975, gains 14.876 and 16.938: HD up to 12.813.
    #[test]
    fn a_larger_buffer_is_filled_further_before_resolution_rises() {
        assert_eq!(chosen(12.8, 20), Resolution::Hd);
        assert_eq!(chosen(12.83, 20), Resolution::Fhd);
    }

    #[test]
    fn a_buffer_of_one_piece_leaves_no_choice() {
        assert_eq!(chosen(0.0, 1), Resolution::Hd);
    }
}
