//! Third-party servers and clients: finding, configuring, monitoring and stopping them.
//!
//! A [`Program`] is an entry of [`registry`]. It writes a configuration and a command line for a
//! [`Setup`], and states its [`Abilities`]. A user's own command is a [`CustomCommand`], which is a
//! `Program` too.
//!
//! A [`ClientProgram`] is an entry of [`clients::registry`], and reports what it has fetched.
//!
//! 1. [`find_executable`] finds the program, or the Debian package that contains it.
//! 2. [`Folder`] is a place for its files, removed after the run.
//! 3. [`Running`] starts it in a network namespace, waits until it listens, and stops it. It always
//!    ends with this process: see [`trackbed_emulator::enclosure`].
#![forbid(unsafe_code)]

mod caddy;
mod certificate;
mod channel;
pub mod clients;
mod command;
mod error;
mod executable;
mod folder;
mod listening;
mod mosquitto;
mod nginx;
mod openssl;
mod program;
mod running;
mod servers;
mod tree;

pub use certificate::{Certificate, pem_of};
pub use channel::Channel;
pub use clients::{
    Client, ClientProgram, CustomClient, Does, Fetched, PageTimes, Session, Visit, Visited, Wanted,
};
pub use command::{CommandError, CustomCommand, Words};
pub use error::ProgramError;
pub use executable::{Missing, find_executable, package_of};
pub use folder::Folder;
pub use program::{Abilities, About, Launch, Listens, Program, Server, Setup, Transport};
pub use running::{Running, environment};
pub use trackbed_linux::unprivileged::User;

/// Every server program, in list order. To add one, create its file and add a line here.
pub fn registry() -> &'static [&'static dyn Program] {
    &[
        &nginx::NGINX,
        &servers::NGHTTPD,
        &caddy::CADDY,
        &mosquitto::MOSQUITTO,
        &servers::COAP_SERVER,
        &servers::QUIC_GO,
        &servers::AIOQUIC,
        &servers::S2N_QUIC,
        &servers::QUICHE,
    ]
}

/// The server program called `name`.
pub fn find(name: &str) -> Option<&'static dyn Program> {
    registry().iter().copied().find(|program| program.name() == name)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::path::Path;

    use trackbed_connection::CipherSuite;

    use super::*;

    #[test]
    fn every_entry_is_complete_and_tells_its_program_what_it_is_asked() {
        let folder = Path::new("/some/folder");
        let address = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        for (index, program) in registry().iter().enumerate() {
            let name = program.name();
            assert!(registry()[..index].iter().all(|other| other.name() != name));
            assert!(!program.about().summary.is_empty() && !program.about().speaks.is_empty());
            let names = program.executables().into_iter().map(str::to_owned).collect();
            let remedy = Missing { names, package: program.about().package }.to_string();
            assert!(!remedy.contains("path"), "{name} can be had by a command: {remedy}");
            let abilities = program.abilities();
            for tls in abilities.tls.iter().copied().map(Some).chain([None]) {
                let cipher = tls.filter(|tls| abilities.ciphers.contains(tls));
                let setup = Setup {
                    address,
                    port: program.port(),
                    name: "server.test",
                    tls,
                    cipher: cipher.map(|_| CipherSuite::Aes256Gcm),
                    early_data: !abilities.early_data.is_empty(),
                    ..Setup::within(folder)
                };
                let launch = program.prepare(&setup);
                let words = launch.arguments.iter().map(|word| word.to_string_lossy().into_owned());
                let files = launch.files.iter().map(|(_, text)| text.clone());
                let all: Vec<String> = words.chain(files).collect();
                let all = all.join(" ");
                assert!(all.contains("10.0.0.1"), "{name} is told its address: {all}");
                assert!(all.contains("/some/folder"), "{name} is told its files: {all}");
                assert_eq!(launch.listens.port, program.port());
            }
        }
        assert!(find("nginx").is_some() && find("apache").is_none());
    }
}
