//! MQTT over the loopback interface: messages per second through our broker and Mosquitto's with
//! the same clients, alternately.
//!
//! `cargo bench -p trackbed-protocols --bench mqtt` prints a line for each measurement. The brokers
//! are separate processes, pinned to one processor if taskset(1) exists; their processor time is
//! given per message.

#[cfg(target_os = "linux")]
#[path = "mqtt/linux.rs"]
mod linux;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}
