//! MQTT as TLS names it, and how it fills records.

use trackbed_connection::TlsVersion;

use crate::tls::Profile;

/// The name is the one registered for it (IANA, TLS ALPN protocol IDs).
pub(super) const MQTT: Profile =
    Profile { protocol: "mqtt", alpn: b"mqtt", versions: TlsVersion::ALL, early_data_max: 0 };

/// The most that is handed to TLS at once, and so the longest of its records. Nothing of a record can
/// be read before all of it is there: one of 16 KiB, longer than TCP's first window, would keep the
/// messages at its beginning waiting for a round trip. (Mosquitto has a record for each packet.)
pub(super) const RECORD_LEN_MAX: usize = 4 << 10;
