//! HTTP/1.1 as TLS names it.

use trackbed_connection::TlsVersion;

use crate::config::EARLY_DATA_MAX;
use crate::tls::Profile;

pub(super) const HTTP1: Profile = Profile {
    protocol: "http1",
    alpn: b"http/1.1",
    versions: TlsVersion::ALL,
    early_data_max: EARLY_DATA_MAX,
};
