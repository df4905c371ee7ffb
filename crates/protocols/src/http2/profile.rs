//! HTTP/2 as TLS names it.

use trackbed_connection::TlsVersion;

use crate::config::EARLY_DATA_MAX;
use crate::tls::Profile;

pub(super) const HTTP2: Profile = Profile {
    protocol: "http2",
    alpn: b"h2",
    versions: TlsVersion::ALL,
    early_data_max: EARLY_DATA_MAX,
};
