//! Resolves names with the system's resolver, which blocks, so each name gets a separate thread.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use trackbed_substrate::kernel::Machine;

/// The addresses of a name.
///
/// # Errors
/// If there are none, or the thread cannot be started.
pub(crate) async fn resolve(
    machine: &Machine,
    name: String,
    port: u16,
) -> io::Result<Vec<SocketAddr>> {
    let found = Arc::new(Mutex::new(None));
    let (hears, tells) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let place = Arc::clone(&found);
    thread::Builder::new().name("resolver".to_owned()).spawn(move || {
        let addresses = (name.as_str(), port).to_socket_addrs();
        let addresses = addresses.map(|addresses| addresses.collect::<Vec<_>>());
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(addresses);
        // Closing the pipe wakes the task.
        drop(tells);
    })?;
    machine.closed(hears).await?;
    let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
    let addresses = found.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))?;
    if addresses.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(addresses) }
}
