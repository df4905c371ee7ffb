//! Wi-Fi (IEEE 802.11a, n and ac): stations and an access point that contend for one channel.

mod domain;
mod sender;
mod timing;

use std::sync::Arc;

use trackbed_core::{Arguments, parameters};

use super::{MediumEntry, MediumModel};
use crate::queue::DropTail;
use crate::spec::SpecError;

pub use domain::Wifi;
pub use timing::{Access, HT20, OFDM, Rate, Timing, VHT80};

pub(crate) static ENTRY: MediumEntry = MediumEntry {
    name: "wifi",
    summary: "stations and an access point that contend for one Wi-Fi channel",
    parameters: parameters! {
        "standard": Choice(&["802.11a", "802.11n", "802.11ac"]) = "802.11n" =>
            "802.11a (20 MHz, up to 54 Mbit/s), 802.11n (20 MHz, up to 65 Mbit/s) or 802.11ac \
             (80 MHz, up to 390 Mbit/s), each with one spatial stream";
        "snr": Number = "40" =>
            "the stations' mean signal-to-noise ratio in dB, which selects their rates";
        "snr_spread": Number, optional =>
            "the stations' ratios lie evenly within this many dB around the mean; default: 0";
        "frame_error": Share = "0 %" =>
            "the probability that a frame is lost without a collision";
        "aggregation": Count { min: 1 }, optional =>
            "the maximum number of packets in one transmission; default: 64, with 802.11a 1";
        "attempts": Count { min: 1 } = "7" => "how often a frame is sent before it is dropped";
        "queue_packets": Count { min: 1 } = "100" =>
            "the maximum number of packets in each queue, with those that are being sent: each \
             station has one, and the access point has one for each station";
        "queue_bytes": Size, optional => "the maximum number of bytes in each queue; default: no limit";
    },
    example: &[("standard", "802.11ac"), ("snr", "30")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn MediumModel>, SpecError> {
    let timing = match arguments.need("standard") {
        "802.11a" => OFDM,
        "802.11n" => HT20,
        _ => VHT80,
    };
    let (snr, least): (f64, f64) = (arguments.need("snr"), timing.rates[0].0.into());
    let snr_spread = arguments.get("snr_spread").unwrap_or(0.0);
    if snr - snr_spread < least {
        return Err(SpecError::new(format!(
            "snr: a station needs {least} dB; raise snr or lower snr_spread"
        )));
    }
    let most = if timing.aggregate == 0 { 1 } else { u64::MAX };
    let aggregation = arguments.get("aggregation").unwrap_or(64.min(most));
    if aggregation > most {
        return Err(SpecError::new(
            "aggregation: 802.11a sends one packet at a time; remove the key or choose 802.11n",
        ));
    }
    Ok(Arc::new(Wifi {
        timing,
        snr,
        snr_spread,
        frame_error: arguments.need("frame_error"),
        aggregation: usize::try_from(aggregation).unwrap_or(usize::MAX),
        attempts: u32::try_from(arguments.need::<u64>("attempts")).unwrap_or(u32::MAX),
        queue: DropTail {
            packets: Some(arguments.need("queue_packets")),
            bytes: arguments.get("queue_bytes"),
        },
    }))
}
