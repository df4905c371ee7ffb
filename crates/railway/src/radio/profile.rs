//! The effects of a handover.

use std::time::Duration;

use trackbed_core::{ByteSize, Ratio};

/// The effects of a handover on a link, and the matching network. Entries: [`PROFILES`].
///
/// Pairs of durations are the ends of uniform distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// The name of its path loss.
    pub path_loss: &'static str,
    /// A station's power in dBm.
    pub power_dbm: f64,
    /// The gain of its antenna in dB.
    pub antenna_gain_db: f64,
    /// The standard deviation of shadow fading, in dB.
    pub shadowing_db: f64,
    /// The standard deviation of the variation from drive to drive, in dB.
    pub variation_db: f64,
    /// From the terminal's report to the command: preparation of the target over X2.
    pub preparation: (Duration, Duration),
    /// From the command until data flows through the target.
    pub gap: (Duration, Duration),
    /// How long packets take from the source to the target over X2.
    pub forwarding: (Duration, Duration),
    /// The maximum number of bytes that the source's queue towards the train, and the terminal's queue, lose at
    /// the command although packets are forwarded.
    pub flush: ByteSize,
    /// The degradation around a handover.
    pub spell: Option<Spell>,
    /// The share of handovers that fail: the radio link is lost and re-established.
    pub failures: Ratio,
    /// The time for re-establishment.
    pub reestablishment: (Duration, Duration),
}

/// A time around a handover, half before and half after it, during which the link is degraded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spell {
    /// Its duration.
    pub duration: (Duration, Duration),
    /// The remaining share of the rate.
    pub rate: Ratio,
    /// The factor of the delay, as the ends of a uniform distribution.
    pub delay_factor: (f64, f64),
    /// The maximum loss; the loss is drawn between zero and this.
    pub loss_max: Ratio,
}

impl Profile {
    /// The entry of this name.
    pub fn find(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// LTE as in 3GPP's reports: macro cells with shadows, gaps of 50 +- 15 ms (TR 36.881), packets forwarded over
/// X2 within 5 to 20 ms.
const LTE: Profile = Profile {
    name: "3gpp",
    path_loss: "3gpp",
    power_dbm: 46.0,
    antenna_gain_db: 15.0,
    // TR 38.901 table 7.4.1-1, rural macro cells with a line of sight. The part that varies from
    // drive to drive is our assumption.
    shadowing_db: 4.0,
    variation_db: 1.0,
    preparation: (ms(30), ms(60)),
    gap: (ms(35), ms(65)),
    forwarding: (ms(5), ms(20)),
    flush: ByteSize::from_bytes(0),
    spell: None,
    failures: Ratio::ZERO,
    reestablishment: (ms(1_000), ms(3_000)),
};

/// Every profile, in the order of lists.
pub static PROFILES: &[Profile] = &[
    // ns-3's LTE: free space without shadows, gaps of 5 to 15 ms, queues of 10 KiB lost.
    Profile {
        name: "ns3",
        path_loss: "friis",
        power_dbm: 30.0,
        antenna_gain_db: 0.0,
        shadowing_db: 0.0,
        variation_db: 0.0,
        preparation: (ms(5), ms(5)),
        gap: (ms(5), ms(15)),
        forwarding: (ms(0), ms(0)),
        flush: ByteSize::from_bytes(10 * 1024),
        spell: None,
        failures: Ratio::ZERO,
        reestablishment: LTE.reestablishment,
    },
    LTE,
    // As measured above 280 km/h (Li et al., SIGCOMM 2018): for 1 to 3 s around a handover, a tenth of the
    // rate, three to four times the delay, and up to 70 % loss; one handover in twenty fails.
    Profile {
        name: "hsr-measured",
        spell: Some(Spell {
            duration: (ms(1_000), ms(3_000)),
            rate: Ratio::from_parts(1, 10),
            delay_factor: (3.0, 4.0),
            loss_max: Ratio::from_parts(7, 10),
        }),
        failures: Ratio::from_parts(1, 20),
        ..LTE
    },
];
