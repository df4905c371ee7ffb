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
pub use timing::{Access, HT20, OFDM, Timing, VHT80};

pub(crate) static ENTRY: MediumEntry = MediumEntry {
    name: "wifi",
    summary: "stations and an access point that contend for one Wi-Fi channel",
    parameters: parameters! {
        "standard": Choice(&["802.11a", "802.11n", "802.11ac"]) = "802.11n" =>
            "20 MHz and up to 54 Mbit/s, 20 MHz and up to 65 Mbit/s, or 80 MHz and up to 390 Mbit/s";
        "snr": Decibels { min: 0 } = "40 dB" =>
            "the stations' mean signal-to-noise ratio, which selects their rates";
        "snr_spread": Decibels { min: 0 } = "0 dB" =>
            "the stations' ratios lie in the middles of equal parts of this many dB to both sides of the \
             mean: two at half of it, one at the mean";
        "frame_error": Share = "0 %" => "the probability that a frame is lost without a collision";
        "aggregation": Count { min: 1 } = "64" =>
            "the maximum number of packets in one transmission; 802.11a always sends one";
        "attempts": Count { min: 1 } = "7" => "how often a frame is sent before it is dropped";
        "queue_packets": Count { min: 1 } = "100" =>
            "the maximum number of packets in each queue: a station's, and the access point's for it";
        "queue": Size, optional => "the maximum number of bytes there; default: no limit";
    },
    signal: &[],
    example: &[("standard", "802.11ac"), ("snr", "30")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn MediumModel>, SpecError> {
    let timing = match arguments.need("standard") {
        "802.11a" => OFDM,
        "802.11n" => HT20,
        _ => VHT80,
    };
    let (snr, least): (f64, f64) = (arguments.need("snr"), timing.snr[0].into());
    let snr_spread: f64 = arguments.need("snr_spread");
    if snr - snr_spread < least {
        let why = format!("snr less snr-spread: a station needs {least} dB; change one of them");
        return Err(SpecError::new(why));
    }
    let (frame_error, attempts) = (arguments.need("frame_error"), arguments.need("attempts"));
    let aggregation = arguments.need("aggregation");
    let (packets, bytes) = (arguments.get("queue_packets"), arguments.get("queue"));
    let queue = DropTail { packets, bytes };
    Ok(Arc::new(Wifi { timing, snr, snr_spread, frame_error, aggregation, attempts, queue }))
}
