//! Reason codes (version 5, section 2.4).

use std::fmt;

/// The result of a request. Values from 0x80 on are failures.
///
/// Clients of 3.1.1 get the closest return code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason(pub u8);

macro_rules! reasons {
    ($($name:ident = $code:literal, $words:literal;)*) => {
        impl Reason {
            $(#[doc = concat!("\"", $words, "\".")] pub const $name: Reason = Reason($code);)*

            fn words(self) -> &'static str {
                match self.0 {
                    $($code => $words,)*
                    _ => "an unknown reason",
                }
            }
        }
    };
}

reasons! {
    SUCCESS = 0x00, "success";
    DISCONNECT_WITH_WILL = 0x04, "disconnect with will message";
    NO_MATCHING_SUBSCRIBERS = 0x10, "no matching subscribers";
    NO_SUBSCRIPTION_EXISTED = 0x11, "no subscription existed";
    UNSPECIFIED_ERROR = 0x80, "unspecified error";
    MALFORMED_PACKET = 0x81, "malformed packet";
    PROTOCOL_ERROR = 0x82, "protocol error";
    UNSUPPORTED_PROTOCOL_VERSION = 0x84, "unsupported protocol version";
    CLIENT_IDENTIFIER_NOT_VALID = 0x85, "client identifier not valid";
    BAD_USER_NAME_OR_PASSWORD = 0x86, "bad user name or password";
    NOT_AUTHORIZED = 0x87, "not authorized";
    SERVER_UNAVAILABLE = 0x88, "server unavailable";
    BAD_AUTHENTICATION_METHOD = 0x8c, "bad authentication method";
    KEEP_ALIVE_TIMEOUT = 0x8d, "keep alive timeout";
    SESSION_TAKEN_OVER = 0x8e, "session taken over";
    TOPIC_FILTER_INVALID = 0x8f, "topic filter invalid";
    TOPIC_NAME_INVALID = 0x90, "topic name invalid";
    PACKET_IDENTIFIER_NOT_FOUND = 0x92, "packet identifier not found";
    RECEIVE_MAXIMUM_EXCEEDED = 0x93, "receive maximum exceeded";
    TOPIC_ALIAS_INVALID = 0x94, "topic alias invalid";
    PACKET_TOO_LARGE = 0x95, "packet too large";
    QUOTA_EXCEEDED = 0x97, "quota exceeded";
}

impl Reason {
    /// Whether it is a success.
    pub fn is_success(self) -> bool {
        self.0 < 0x80
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (0x{:02x})", self.words(), self.0)
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A protocol violation, and the reason that its sender gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}: {reason}")]
pub struct Fault {
    /// The code for DISCONNECT or CONNACK.
    pub reason: Reason,
    /// What is wrong, in words.
    pub why: &'static str,
}

impl Fault {
    pub(crate) const fn new(reason: Reason, why: &'static str) -> Fault {
        Fault { reason, why }
    }

    pub(crate) const fn malformed(why: &'static str) -> Fault {
        Fault::new(Reason::MALFORMED_PACKET, why)
    }

    pub(crate) const fn protocol(why: &'static str) -> Fault {
        Fault::new(Reason::PROTOCOL_ERROR, why)
    }
}
