//! A third-party server.

use std::sync::Arc;

use trackbed_core::event::{Record, Role};
use trackbed_emulator::Clock;
use trackbed_emulator::namespace::NetNamespace;
use trackbed_programs::{Certificate, Folder, ProgramError, Running, Setup, find_executable};
use trackbed_protocols::SERVER_NAME;
use trackbed_scenario::{Cell, SERVER_ADDRESSES};

pub(in super::super) struct Server {
    pub running: Running,
    pub trust: Vec<u8>,
}

impl Server {
    /// Checks that it is still running.
    pub fn check(&mut self) -> Result<(), String> {
        self.running.check().map_err(|why| why.to_string())
    }

    /// Stops it, and returns what it used.
    pub fn stop(self, clock: Clock) -> Result<Record, String> {
        let stopped = self.running.stop().map_err(|why| why.to_string())?;
        Ok(Record { at: clock.now(), event: super::used(Role::Server, stopped) })
    }
}

/// Starts `program` with a certificate and a site; returns when it listens.
pub(in super::super) fn start_server(
    program: &trackbed_programs::Server,
    namespace: &NetNamespace,
    cell: &Cell,
    folder: &Arc<Folder>,
) -> Result<Server, String> {
    super::set_congestion(namespace, cell, Role::Server)?;
    let words = |why: ProgramError| why.to_string();
    let executable = find_executable(&program.executables(), program.about().package);
    let executable = executable.map_err(|missing| missing.to_string())?;
    let names = SERVER_ADDRESSES.map(|address| address.to_string());
    let names = [SERVER_NAME.to_owned()].into_iter().chain(names);
    let certificate = Certificate::for_names(names).map_err(words)?;
    folder.keep_certificate(&certificate).map_err(words)?;
    let site = cell.workload.site();
    // A third-party client chooses its own requests.
    let foreign = cell.endpoint.programs.client.is_some();
    let site = if foreign { site.unwrap_or_default() } else { site? }.bounded()?;
    for file in site.files {
        folder.publish(&file.path, |output| (file.content)(output)).map_err(words)?;
    }
    let launch = program.prepare(&setup(program, cell, folder));
    let running = Running::start(namespace, &executable, &launch, folder, "server", None);
    let mut running = running.map_err(words)?;
    running.wait_until_ready(launch.listens).map_err(words)?;
    Ok(Server { running, trust: certificate.as_der().to_vec() })
}

fn setup<'a>(program: &trackbed_programs::Server, cell: &Cell, folder: &'a Folder) -> Setup<'a> {
    let (endpoint, abilities) = (&cell.endpoint, program.abilities());
    // If the client offers a single cipher, a server without a cipher setting has to accept it.
    let told = endpoint.tls.is_some_and(|tls| abilities.ciphers.contains(&tls));
    Setup {
        address: endpoint.ip.server().ip(),
        port: program.port(),
        name: SERVER_NAME,
        tls: endpoint.tls,
        cipher: endpoint.cipher.filter(|_| told),
        early_data: endpoint.handshake.sends_early_data(),
        ..folder.setup()
    }
}
