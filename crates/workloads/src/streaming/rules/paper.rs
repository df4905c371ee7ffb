//! The rule of "Performance Analysis of QUIC Protocol for Web and Streaming Services" (KIPS
//! Transactions, 2021): by the link's delay.

use std::time::Duration;

use super::Situation;
use crate::streaming::storage::Resolution;

/// QHD if the link delay is under 100 ms, FHD up to 200 ms, HD above and after a connect or seek.
pub(super) fn choose(situation: &Situation<'_>) -> Resolution {
    match situation.link_delay {
        _ if situation.is_fresh => Resolution::Hd,
        delay if delay < QHD_BELOW => Resolution::Qhd,
        delay if delay <= FHD_UP_TO => Resolution::Fhd,
        _ => Resolution::Hd,
    }
}

const QHD_BELOW: Duration = Duration::from_millis(100);
const FHD_UP_TO: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::super::tests::situation;
    use super::*;

    #[test]
    fn it_goes_by_the_delay_and_begins_low() {
        for (millis, expected) in [
            (0, Resolution::Qhd),
            (99, Resolution::Qhd),
            (100, Resolution::Fhd),
            (200, Resolution::Fhd),
            (201, Resolution::Hd),
        ] {
            let now = Situation { link_delay: Duration::from_millis(millis), ..situation() };
            assert_eq!(choose(&now), expected, "{millis} ms");
            assert_eq!(choose(&Situation { is_fresh: true, ..now }), Resolution::Hd);
        }
    }
}
