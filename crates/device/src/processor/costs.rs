//! The cost of communication for a host, as text.
//!
//! ```text
//! trackbed-costs 1
//! # whatever is worth knowing about the measurement
//! protocol http2 41000 9000 120
//! protocol other 30000 9000 120
//! cipher aes128gcm 350
//! ```
//!
//! The first line is the format's name and version. Then, in any order, a line for each protocol:
//! nanoseconds per message exchange of any length, nanoseconds per packet sent or received, and
//! picoseconds per byte of such a packet, without encryption. `other` stands for every protocol
//! without a line. A line for each cipher has picoseconds per byte encrypted or decrypted. Empty
//! lines and those that begin with `#` are ignored.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use trackbed_core::text::TextError;

use crate::processor::host::PacketCost;
use crate::processor::{error, number, words};

/// The costs of protocols and ciphers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// By the protocol's name; [`OTHER`] stands for all others.
    pub protocols: BTreeMap<String, Cost>,
    /// Per byte, in picoseconds, by the cipher's name.
    pub ciphers: BTreeMap<String, u64>,
}

/// The cost of communication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Per message with its answer, whatever their length.
    pub message: Duration,
    /// Per packet, acknowledgements included.
    pub packet: PacketCost,
}

/// The name that stands for every protocol without a line.
pub const OTHER: &str = "other";
/// The maximum cost of a message or a packet: a second, in nanoseconds.
pub const COST_MAX_NS: u64 = 1_000_000_000;
/// The maximum cost of a byte: a millisecond, in picoseconds.
pub const BYTE_MAX_PS: u64 = 1_000_000_000;
const LINES_MAX: usize = 1_000;

impl Costs {
    /// Parses a text.
    ///
    /// # Errors
    /// At the first malformed line.
    pub fn parse(text: &str) -> Result<Costs, TextError> {
        let mut costs = Costs::default();
        for (line, words) in words(text, MAGIC)? {
            costs.read(&words).map_err(|why| error(line, why))?;
            if costs.protocols.len() + costs.ciphers.len() > LINES_MAX {
                return Err(error(line, format!("there are more than {LINES_MAX} lines")));
            }
        }
        match costs.protocols.is_empty() {
            true => Err(error(text.lines().count() as u64, "there is no protocol line; add one")),
            false => Ok(costs),
        }
    }

    /// The cost of a protocol without encryption; `None` if neither it nor [`OTHER`] has a line.
    pub fn protocol(&self, name: &str) -> Option<Cost> {
        self.protocols.get(name).or_else(|| self.protocols.get(OTHER)).copied()
    }

    fn read(&mut self, words: &[&str]) -> Result<(), String> {
        let nanos = |text: &str| {
            let nanos = number(text, 0..=COST_MAX_NS, "whole number of nanoseconds")?;
            Ok::<_, String>(Duration::from_nanos(nanos))
        };
        let picos = |text: &str| number(text, 0..=BYTE_MAX_PS, "whole number of picoseconds");
        match *words {
            ["protocol", name, message, packet, byte] => {
                let packet = PacketCost { packet: nanos(packet)?, byte_picos: picos(byte)? };
                let cost = Cost { message: nanos(message)?, packet };
                once(self.protocols.insert(name.to_owned(), cost).is_none(), name)
            }
            ["cipher", name, byte] => {
                once(self.ciphers.insert(name.to_owned(), picos(byte)?).is_none(), name)
            }
            _ => Err(
                "write \"protocol NAME MESSAGE PACKET BYTE\" with nanoseconds, nanoseconds and \
                      picoseconds, or \"cipher NAME BYTE\" with picoseconds"
                    .to_owned(),
            ),
        }
    }
}

fn once(is_new: bool, name: &str) -> Result<(), String> {
    if is_new { Ok(()) } else { Err(format!("\"{name}\" has a line before this one: remove one")) }
}

/// As [`Costs::parse`] reads it.
impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{MAGIC}")?;
        for (name, Cost { message, packet }) in &self.protocols {
            let nanos = [message.as_nanos(), packet.packet.as_nanos()];
            writeln!(f, "protocol {name} {} {} {}", nanos[0], nanos[1], packet.byte_picos)?;
        }
        self.ciphers.iter().try_for_each(|(name, byte)| writeln!(f, "cipher {name} {byte}"))
    }
}

const MAGIC: &str = "trackbed-costs 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = "trackbed-costs 1\n# a remark\n\nprotocol mqtt 30000 9000 120\ncipher x 350\n\
                    #another\nprotocol other 1 2 3\n";
        let costs = Costs::parse(text).unwrap();
        let mqtt = costs.protocol("mqtt").unwrap();
        assert_eq!(mqtt.message, Duration::from_micros(30));
        // 9 us and 1,500 times 120 ps.
        assert_eq!(mqtt.packet.of(1_500), Duration::from_nanos(9_180));
        assert_eq!(costs.protocol("http2").unwrap().message, Duration::from_nanos(1));
        assert_eq!(costs.ciphers["x"], 350);
        assert_eq!(Costs::parse(&costs.to_string()), Ok(costs));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let with = |rest: &str| Costs::parse(&format!("{MAGIC}\n{rest}")).unwrap_err();
        for text in ["", "trackbed-durations 1\n"] {
            let error = Costs::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("line 1: \""), "{error}");
        }
        for row in include_str!("costs-mistakes.txt").lines() {
            let [rest, line, word] = row.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let error = with(&rest.replace("\\n", "\n")).to_string();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
            assert!(error.contains(word), "{error}");
        }
    }
}
