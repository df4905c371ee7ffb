//! MQTT over the loopback interface: messages per second through our broker and Mosquitto's with the
//! same clients, in turns, and exchanges per second of our protocol.
//!
//! `cargo bench -p trackbed-protocols --bench mqtt` prints a line for each measurement. The brokers are
//! processes of their own, kept on one processor where taskset(1) is there; their processor time is told
//! per message.

#[cfg(target_os = "linux")]
#[path = "mqtt/linux.rs"]
mod linux;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}
