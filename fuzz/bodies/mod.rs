//! The targets of fuzzing. The fuzzer and the tests that replay its corpora run the same functions.

#[cfg(target_os = "linux")]
mod connection_operations;
#[cfg(target_os = "linux")]
mod intruder_words;
mod ip_packet;
mod mqtt_broker;
mod read_file;
mod run_directory;
mod scenario_file;
#[cfg(target_os = "linux")]
mod server_words;
mod signatures;
mod tcp_operations;
mod v2x_message;

/// A target: its name, which its corpus has too; how many mutations of its corpus the tests try; and what
/// it does with an input.
pub type Target = (&'static str, u64, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("ip_packet", 18_000, ip_packet::run),
    ("mqtt_broker", 9_000, mqtt_broker::run),
    ("mqtt_client", 9_000, mqtt_broker::run_client),
    ("multipath_operations", 1_200, tcp_operations::run_multipath),
    ("read_file", 6_000, read_file::run),
    ("run_file", 300, read_file::run_file),
    ("run_directory", 900, run_directory::run),
    ("scenario_file", 5_000, scenario_file::run),
    ("signatures", 900, signatures::run),
    ("tcp_operations", 2_100, tcp_operations::run),
    ("v2x_message", 16_000, v2x_message::run),
    #[cfg(target_os = "linux")]
    ("coap_datagrams", 300, server_words::run_coap),
    #[cfg(target_os = "linux")]
    ("intruder_words", 400, intruder_words::run),
    #[cfg(target_os = "linux")]
    ("server_words", 400, server_words::run),
    #[cfg(target_os = "linux")]
    ("connection_operations", 400, connection_operations::run),
];
