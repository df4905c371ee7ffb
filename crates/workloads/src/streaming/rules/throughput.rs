//! Chooses by the throughput of recent pieces.

use super::{Situation, Transfer};
use crate::streaming::player::PIECE;
use crate::streaming::storage::Resolution;

/// The highest resolution whose bit rate is at most nine tenths of the harmonic mean of the
/// throughput of the last five pieces; the lowest one if there is none, or nothing is known.
///
/// The harmonic mean is the robust estimate of Jiang, Sekar and Zhang, "Improving Fairness,
/// Efficiency, and Stability in HTTP-based Adaptive Video Streaming with FESTIVE" (CoNEXT 2012),
/// section 4; nine tenths is the default safety factor of dash.js and others.
pub(super) fn choose(situation: &Situation<'_>) -> Resolution {
    let Some(estimate) = harmonic_mean(situation.transfers) else { return Resolution::Hd };
    let fits = |resolution: &Resolution| {
        let rate = situation.sizes[resolution.index()] as f64 / PIECE.as_secs_f64();
        rate <= estimate * SAFETY
    };
    Resolution::ALL.into_iter().rfind(fits).unwrap_or(Resolution::Hd)
}

/// The harmonic mean of the last transfers' rates, in bytes per second. Dividing all bytes by all
/// time would give long pieces more weight; this gives slow ones more.
fn harmonic_mean(transfers: &[Transfer]) -> Option<f64> {
    let recent = &transfers[transfers.len().saturating_sub(RECENT)..];
    let slowness = |transfer: &Transfer| transfer.took.as_secs_f64() / transfer.bytes.max(1) as f64;
    let sum: f64 = recent.iter().map(slowness).sum();
    (sum > 0.0).then(|| recent.len() as f64 / sum)
}

/// The number of pieces that count.
const RECENT: usize = 5;
const SAFETY: f64 = 0.9;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::situation;
    use super::*;

    fn transfer(bytes: u64, millis: u64) -> Transfer {
        Transfer { bytes, took: Duration::from_millis(millis) }
    }

    fn chosen(transfers: &[Transfer]) -> Resolution {
        choose(&Situation { transfers, ..situation() })
    }

    #[test]
    fn the_harmonic_mean_leans_to_the_slow_ones() {
        // 1 and 4 MB/s: 2 / (1 + 1/4) = 1.6 MB/s.
        let two = [transfer(1_000_000, 1_000), transfer(4_000_000, 1_000)];
        assert!((harmonic_mean(&two).unwrap() - 1.6e6).abs() < 1e-3);
        assert_eq!(harmonic_mean(&[]), None);
    }

    #[test]
    fn it_takes_what_fits_nine_tenths() {
        assert_eq!(chosen(&[]), Resolution::Hd);
        assert_eq!(chosen(&[transfer(500_000, 1_000)]), Resolution::Hd);
        // 2.2 MB/s less a tenth is 1.98, 2.3 is 2.07.
        assert_eq!(chosen(&[transfer(2_200_000, 1_000)]), Resolution::Hd);
        assert_eq!(chosen(&[transfer(2_300_000, 1_000)]), Resolution::Fhd);
        assert_eq!(chosen(&[transfer(4_500_000, 1_000)]), Resolution::Qhd);
    }

    #[test]
    fn only_the_last_five_count() {
        let mut transfers = vec![transfer(1_000, 10_000)];
        transfers.extend([transfer(5_000_000, 1_000); 4]);
        assert_eq!(chosen(&transfers), Resolution::Hd);
        transfers.push(transfer(5_000_000, 1_000));
        assert_eq!(chosen(&transfers), Resolution::Qhd);
    }
}
