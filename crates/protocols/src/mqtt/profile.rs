//! The TLS profile of MQTT.

use trackbed_connection::TlsVersion;

use crate::tls::Profile;

/// The name is the one registered for it (IANA, TLS ALPN protocol IDs).
pub(super) const MQTT: Profile =
    Profile { protocol: "mqtt", alpn: b"mqtt", versions: TlsVersion::ALL, early_data_max: 0 };
