//! From what happened in a run to what is kept of it: metrics from events, results as data,
//! captures for Wireshark with the TLS secrets in them, key logs and qlog.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod contrast;
pub mod keylog;
pub mod metrics;
pub mod pcapng;
pub mod planned;
pub mod qlog;
pub mod results;
pub mod samples;
pub mod schema;
pub mod timeline;
pub mod waterfall;
