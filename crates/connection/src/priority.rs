//! How urgent a response is: the Extensible Prioritization Scheme for HTTP (RFC 9218).

use std::fmt;

/// The priority of a response, as requested by a client.
///
/// HTTP carries it in the header field `priority` (section 5), `quic`, `sctp`, `tcp` and their
/// relatives in their own head. Over QUIC our server sends in this order; over SCTP the urgency is
/// the weight of the stream; otherwise the field is only carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// From 0, the most urgent, to 7 (section 4.1). More than 7 counts as 7.
    pub urgency: u8,
    /// Whether the client can use parts, so that responses of this urgency may share the
    /// connection; otherwise they are sent one after another (section 4.2).
    pub incremental: bool,
}

impl Priority {
    /// The name of the header field (section 5).
    pub const FIELD: &'static str = "priority";

    /// Parses the field `priority`. Unknown or invalid members are ignored, and missing ones have
    /// their default (section 4); of several, the last one counts (RFC 8941 section 3.2).
    pub fn from_field(text: &str) -> Priority {
        let mut priority = Priority::default();
        for member in text.split(',') {
            // Parameters of the member follow a semicolon.
            let member = member.split(';').next().unwrap_or("").trim();
            match member.split_once('=') {
                Some(("u", urgency)) => {
                    let urgency = urgency.parse().ok().filter(|urgency| *urgency <= URGENCY_MAX);
                    priority.urgency = urgency.unwrap_or(priority.urgency);
                }
                Some(("i", "?1")) => priority.incremental = true,
                Some(("i", "?0")) => priority.incremental = false,
                None if member == "i" => priority.incremental = true,
                _ => {}
            }
        }
        priority
    }

    /// The priority as a byte of our own frames: the urgency, plus 8 if it is incremental.
    pub fn to_byte(self) -> u8 {
        self.urgency.min(URGENCY_MAX) | if self.incremental { INCREMENTAL } else { 0 }
    }

    /// Parses the output of [`Priority::to_byte`]; `None` for any other byte.
    pub fn from_byte(byte: u8) -> Option<Priority> {
        let (urgency, incremental) = (byte & URGENCY_MAX, byte & INCREMENTAL != 0);
        (byte & !(URGENCY_MAX | INCREMENTAL) == 0).then_some(Priority { urgency, incremental })
    }

    /// The rank of the stream with this response, the `index`-th that its client opened, in a QUIC
    /// engine: higher ranks go first, equal ones take turns. Non-incremental responses follow one
    /// another in the order of their streams (section 10). All ranks are below 0, the rank of
    /// HTTP/3's control streams and of responses without a priority.
    pub fn rank(self, index: u64) -> i32 {
        let last = (1 << ORDER_BITS) - 1;
        let order = if self.incremental { last } else { index.min(last - 1) };
        let behind = (u64::from(self.urgency.min(URGENCY_MAX)) << ORDER_BITS) + order;
        // Eight urgencies of 28 bits each fill the negative numbers.
        -1 - behind as i32
    }
}

/// The priority of a response without one (section 4).
impl Default for Priority {
    fn default() -> Priority {
        Priority { urgency: 3, incremental: false }
    }
}

/// The field's value. The urgency is always included: otherwise a server could not distinguish a
/// client that wants the default from one without priorities.
impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u={}", self.urgency.min(URGENCY_MAX))?;
        if self.incremental { f.write_str(", i") } else { Ok(()) }
    }
}

const URGENCY_MAX: u8 = 7;
const INCREMENTAL: u8 = 8;

/// Room for the order of streams within an urgency.
const ORDER_BITS: u32 = 28;

#[cfg(test)]
mod tests {
    use super::*;

    fn priority(urgency: u8, incremental: bool) -> Priority {
        Priority { urgency, incremental }
    }

    /// Examples of sections 4 and 5 of RFC 9218, and its rules for unknown values.
    #[test]
    fn fields_read_as_the_rfc_says() {
        for (field, expected) in [
            ("", priority(3, false)),
            ("u=0", priority(0, false)),
            ("u=5, i", priority(5, true)),
            ("i", priority(3, true)),
            ("i=?0,u=7", priority(7, false)),
            ("u=8", priority(3, false)),
            ("u=-1, i=1", priority(3, false)),
            ("u=1;x=2, foo=\"bar\", u=2", priority(2, false)),
        ] {
            assert_eq!(Priority::from_field(field), expected, "{field:?}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for urgency in 0..=7 {
            for incremental in [false, true] {
                let priority = priority(urgency, incremental);
                assert_eq!(Priority::from_field(&priority.to_string()), priority);
                assert_eq!(Priority::from_byte(priority.to_byte()), Some(priority));
            }
        }
        assert_eq!((16..=255).find_map(Priority::from_byte), None);
        assert_eq!(priority(9, false).to_string(), "u=7");
    }

    #[test]
    fn urgency_comes_first_then_the_order_of_streams() {
        let rank = |urgency, incremental, index| priority(urgency, incremental).rank(index);
        assert!(rank(0, false, 0) < 0);
        assert!(rank(0, false, 0) > rank(0, false, 1));
        assert!(rank(0, false, u64::MAX) > rank(0, true, 0));
        assert_eq!(rank(3, true, 1), rank(3, true, 9));
        assert!(rank(2, true, 9) > rank(3, false, 0));
        assert!(rank(7, true, 0) < rank(7, false, u64::MAX));
    }
}
