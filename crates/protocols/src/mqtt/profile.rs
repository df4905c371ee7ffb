//! MQTT as TLS names it, and how it fills records.

use trackbed_connection::TlsVersion;

use crate::tls::Profile;

/// The name is the one registered for it (IANA, TLS ALPN protocol IDs).
pub(super) const MQTT: Profile =
    Profile { protocol: "mqtt", alpn: b"mqtt", versions: TlsVersion::ALL, early_data_max: 0 };

/// The maximum size of one write to TLS, and so of its records. A record can be read only when it
/// is complete: one of 16 KiB, longer than TCP's initial window, would delay the messages at its
/// beginning by a round trip. (Mosquitto uses one record per packet.)
pub(super) const RECORD_LEN_MAX: usize = 4 << 10;
