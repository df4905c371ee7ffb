//! A radio cell of LTE or NR, as far as it makes delay: slots, scheduling requests and grants, a
//! scheduler, retransmissions, discontinuous reception. `docs/radio-cell.md` explains the parts.

mod bearer;
mod grid;
mod radio;
mod scheduler;

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::Arguments;
use trackbed_core::{ByteSize, parameters};

use self::grid::{CARRIERS, Grid, HARQ_TRANSMISSIONS, Settings};
use super::{MediumEntry, MediumModel};
use crate::spec::SpecError;

pub(crate) static ENTRY: MediumEntry = MediumEntry {
    name: "cell",
    summary: "a radio cell of LTE or NR: stations ask for grants in the uplink, a scheduler divides \
              the resource blocks of each slot, and lost blocks are sent again",
    parameters: parameters! {
        "preset": Choice(&["lte-10mhz", "lte-20mhz", "nr-20mhz-tdd"]) = "lte-20mhz" =>
            "bandwidth, slots and their directions, and the defaults of the delays below";
        "scheduler": Choice(&["proportional-fair", "round-robin"]) = "proportional-fair" =>
            "who sends first among stations of equal priority";
        "snr": Decibels { min: -100 } = "20 dB" => "mean signal-to-noise ratio, at most 100 dB";
        "snr_spread": Decibels { min: 0 } = "0 dB" =>
            "the stations' means lie in the middles of equal parts of this many dB to both sides: two at \
             half of it, one at the mean";
        "fading": Decibels { min: 0 } = "0 dB" =>
            "standard deviation with which the signal changes in time";
        "coherence": Time = "50 ms" =>
            "time in which the correlation of the fading falls to a third; at 2 GHz about 50 ms for \
             a pedestrian, 3 ms for a car in town";
        "bler": Share, optional =>
            "constant share of blocks that fail; default: it follows from the signal, about 10 %";
        "sr_period": Time, optional =>
            "time between a station's opportunities for a scheduling request; default: 10 ms";
        "terminal": Time, optional =>
            "time from a grant to its transmission, and from a block to its acknowledgment; \
             default: 4 ms (LTE), 2 ms (NR)";
        "base_station": Time, optional =>
            "time from a request, a report or an acknowledgment to what the base station sends \
             next; default: 4 ms (LTE), 2 ms (NR)";
        "rlc": Choice(&["am", "um"]) = "am" =>
            "what follows a block's fourth failure: am sends it again later, um loses its packets";
        "queue": Size = "500 kB" =>
            "the maximum number of queued bytes of a station and direction, with headers of 6 B";
        "drx_cycle": Time, optional =>
            "an inactive station listens for 10 ms once each cycle; default: it always listens";
        "drx_inactivity": Time = "100 ms" =>
            "time without transmissions after which a station with drx_cycle is inactive";
    },
    signal: &["snr", "snr_spread"],
    example: &[("preset", "lte-20mhz"), ("fading", "3")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn MediumModel>, SpecError> {
    let name: &str = arguments.need("preset");
    let carrier = CARRIERS.iter().find(|carrier| carrier.name == name);
    let carrier = carrier.expect("the parameter offers existing presets");
    let times =
        ["terminal", "base_station", "sr_period", "drx_inactivity", "coherence", "drx_cycle"];
    for (name, least_ms) in times.into_iter().zip([0, 0, 0, 0, 1, 11]) {
        let least = Duration::from_millis(least_ms);
        if arguments.get(name).is_some_and(|time| !(least..=MOST).contains(&time)) {
            let why = format!("{name} is out of range; write {least:?} to {MOST:?}");
            return Err(SpecError::new(why));
        }
    }
    for name in ["snr", "snr_spread", "fading"] {
        if arguments.get::<f64>(name).is_some_and(|decibels| decibels > 100.0) {
            return Err(SpecError::new(format!("{name}: no radio has that; write at most 100 dB")));
        }
    }
    let delays = [times[0], times[1], times[2]].map(|name| arguments.get(name));
    let rlc: &str = arguments.need("rlc");
    Ok(Arc::new(Settings {
        grid: Grid::new(carrier, delays),
        is_fair: arguments.need::<&str>("scheduler") == "proportional-fair",
        snr: arguments.need("snr"),
        snr_spread: arguments.need("snr_spread"),
        fading: arguments.need("fading"),
        coherence: arguments.need("coherence"),
        bler: arguments.get("bler"),
        // RLC AM sends a block again at most 4 times (maxRetxThreshold, TS 36.331 9.2.1.1).
        transmissions: HARQ_TRANSMISSIONS * if rlc == "am" { 1 + 4 } else { 1 },
        queue: arguments.need::<ByteSize>("queue").as_bytes(),
        drx_cycle: arguments.get("drx_cycle"),
        drx_inactivity: arguments.need("drx_inactivity"),
    }))
}

/// The longest cycle of discontinuous reception (TS 38.331), and more than any other time here.
const MOST: Duration = Duration::from_millis(10_240);
