//! Events to samples; pcapng with TLS secrets, key logs and qlog.
