//! The results of a run: metrics from events, results as data, captures for Wireshark that include
//! the TLS secrets, key logs and qlog.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod answered;
pub mod contrast;
pub mod drops;
pub mod factors;
pub mod fit;
pub mod keylog;
pub mod lists;
pub mod metrics;
pub mod pcapng;
pub mod qlog;
pub mod results;
pub mod samples;
pub mod schema;
pub mod timeline;
pub mod waterfall;
