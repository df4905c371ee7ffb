//! The built-in message: a DENM of a pedestrian on the road, as compact JSON.
//!
//! Names, units and ranges are those of the Decentralized Environmental Notification Message
//! (ETSI EN 302 637-3 V1.3.1, its data elements in ETSI TS 102 894-2 V1.3.1; ETSI TS 103 831 keeps
//! them). To fit 355 bytes, a SEQUENCE of plain numbers is written as an array in the standard's
//! order: `actionID` is originatingStationID and sequenceNumber, `eventPosition` latitude,
//! longitude and altitudeValue, `eventType` causeCode and subCauseCode, `eventSpeed` speedValue
//! and speedConfidence. Confidences of the position and traces are left out. Every number has a
//! fixed count of digits, so that all messages have the same length.

mod check;

use std::fmt::Write as _;

use bytes::Bytes;
use trackbed_core::{Seed, Time};

use super::moment::time_of_day;
use super::walk::Fix;

/// The form of a cell's built-in messages: their containers, and their padded length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Denm {
    len: usize,
    /// How many of its containers the message has. The standard requires the first two; a message
    /// shorter than these has only the header.
    containers: usize,
}

impl Denm {
    pub(super) const COMPLETE_LEN: usize = 355;
    pub(super) const LEN_MIN: usize = 64;

    /// Messages of `len` bytes with as many containers as fit; the rest is padding.
    ///
    /// # Panics
    /// If `len` is less than [`Denm::LEN_MIN`].
    pub(super) fn of_len(len: usize) -> Denm {
        let fitting = CONTAINER_LENS.iter().take_while(|fitting| **fitting <= len).count();
        assert!(fitting > 0, "the message is too short");
        Denm { len, containers: fitting }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Message number `message` of phone `phone`, generated at `time`: the phone moves with time,
    /// from a place and at a speed that the seed determines.
    pub(super) fn message(&self, seed: &Seed, phone: u32, message: u32, time: Time) -> Bytes {
        let mut text = String::with_capacity(self.len);
        let fix = Fix::of(seed, phone, message, time);
        let station = STATION_MIN + phone % STATIONS;
        let sequence = SEQUENCE_MIN + (fix.first_sequence + message % SEQUENCES) % SEQUENCES;
        let stamp = time_of_day(time).as_millis();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            r#"{{"header":{{"protocolVersion":2,"messageID":1,"stationID":{station}}}"#
        );
        if self.containers > 1 {
            let _ = write!(
                text,
                r#","management":{{"actionID":[{station},{sequence}],"detectionTime":{stamp},"referenceTime":{stamp},"eventPosition":[{},{},{}],"relevanceDistance":1,"validityDuration":60,"stationType":1}}"#,
                fix.latitude, fix.longitude, fix.altitude
            );
        }
        if self.containers > 2 {
            text.push_str(r#","situation":{"informationQuality":3,"eventType":[12,0]}"#);
        }
        if self.containers > 3 {
            let _ = write!(text, r#","location":{{"eventSpeed":[{},5]}}"#, fix.speed);
        }
        self.fill_up(&mut text);
        text.push('}');
        debug_assert_eq!(text.len(), self.len);
        Bytes::from(text)
    }

    /// Whether a message is JSON with the mandatory fields, and every field in its range.
    pub(super) fn check(&self, message: &[u8]) -> Result<(), String> {
        check::check(message, self.containers)
    }

    /// Pads the message before its last brace: with a string, or if that is too long with spaces,
    /// which JSON ignores (RFC 8259 section 2).
    fn fill_up(&self, text: &mut String) {
        let missing = self.len - 1 - text.len();
        match missing.checked_sub(PADDING.len()) {
            Some(padding) => {
                let (before, after) = PADDING.split_at(PADDING.len() - 1);
                text.push_str(before);
                text.extend(std::iter::repeat_n('x', padding));
                text.push_str(after);
            }
            None => text.extend(std::iter::repeat_n(' ', missing)),
        }
    }
}

const CONTAINER_LENS: [usize; 4] = [Denm::LEN_MIN, 266, 323, Denm::COMPLETE_LEN];

const PADDING: &str = r#","padding":"""#;

/// Station numbers have five digits, sequence numbers four.
const STATION_MIN: u32 = 10_000;
const STATIONS: u32 = 90_000;
const SEQUENCE_MIN: u32 = 1_000;
const SEQUENCES: u32 = 9_000;

#[cfg(test)]
mod tests;
