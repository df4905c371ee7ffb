//! The engine from outside: one connection or several paths on small test tracks.

mod behaviour;
mod chaos;
mod course;
mod details;
mod handovers;
mod kernel;
mod laws;
mod multipath;
mod multipath_middle;
mod multipath_swarm;
mod paths;
mod peers;
mod scheduling;
mod track;

/// The number in an environment variable.
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: write a whole number")))
}
