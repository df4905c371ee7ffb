//! The cost of a message over the kernel's sockets: 512 bytes and a response of the same length,
//! client and server in separate threads on one machine.
//!
//! `cargo bench -p trackbed-protocols --bench messages` prints a line for each protocol, version and
//! cipher; arguments choose protocols by name.

/// The allocator of the `trackbed` binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("Linux kernel sockets are not available on this platform");
}

#[cfg(target_os = "linux")]
fn main() {
    use trackbed_connection::CipherSuite;
    use trackbed_protocols::registry;

    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("{}", linux::HEAD);
    for protocol in registry() {
        if !chosen.is_empty() && !chosen.iter().any(|name| name == protocol.name()) {
            continue;
        }
        let versions = protocol.capabilities().tls;
        if versions.is_empty() {
            linux::messages(*protocol, None);
        }
        for &version in versions {
            for &cipher in CipherSuite::ALL {
                linux::messages(*protocol, Some((version, cipher)));
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use futures_util::future::join_all;
    use trackbed_connection::{CipherSuite, Request, Response, TlsVersion, body};
    use trackbed_protocols::{ClientConfig, Protocol, ServerConfig, TlsParameters, Trust};
    use trackbed_substrate::kernel::{Execution, Machine, Origin};
    use trackbed_substrate::{Cancel, Host, now};

    /// The columns printed by [`messages`].
    pub const HEAD: &str = "protocol    tls  cipher             us at client  us at server  messages/s \
                            of one core for both  messages/s here";

    /// Messages one after the other, on several connections at once, so that no end waits.
    pub fn messages(protocol: &'static dyn Protocol, tls: Option<(TlsVersion, CipherSuite)>) {
        let (sender, receiver) = channel();
        let stop = Cancel::default();
        let serve = Execution::new(Origin::now()).with_cancel(stop.clone());
        thread::scope(|scope| {
            let server = scope.spawn(move || {
                let _cancelled = serve.run(|machine| async move {
                    let listen = "127.0.0.1:0".parse().unwrap();
                    let config = ServerConfig::default();
                    let echo =
                        async |request: Request| Response { status: 200, body: request.body };
                    let server =
                        protocol.serve((loopback(&machine), listen), &config, Rc::new(echo));
                    let server = server.unwrap();
                    let trust = server.trust().map(|trust| trust.as_der().to_vec());
                    sender.send((server.local_addr(), trust)).unwrap();
                    std::future::pending::<()>().await;
                });
                processor_micros()
            });
            let (remote, trust) = receiver.recv().expect("the server has begun");
            let before = processor_micros();
            let took = Execution::new(Origin::now()).run(|machine| async move {
                let trust = trust.map(Trust::from_der);
                let mut config = ClientConfig { trust, ..ClientConfig::default() };
                if let Some((version, cipher)) = tls {
                    config.tls = TlsParameters::only(version, cipher);
                }
                let dialer = protocol.dialer(loopback(&machine), &config).unwrap();
                let start = now();
                let all = (0..CONNECTIONS).map(async |_| {
                    let connection = dialer.connect(remote).await.unwrap();
                    for _ in 0..MESSAGES / CONNECTIONS {
                        let request = Request::new("/message", body::full(&[0; 512][..]));
                        let response = connection.exchange(request).await.unwrap();
                        assert_eq!(body::drain(response.body).await, Ok(512));
                    }
                });
                join_all(all).await;
                now() - start
            });
            let client = processor_micros() - before;
            stop.cancel();
            let server = server.join().unwrap();
            let seconds = took.unwrap().as_secs_f64();
            let each = |micros: f64| micros / f64::from(MESSAGES);
            let (version, cipher) =
                tls.map_or(("-", "-"), |(version, cipher)| (version.name(), cipher.name()));
            println!(
                "{:<11} {version:<4} {cipher:<18} {:>12.1}  {:>12.1}  {:>31.0}  {:>15.0}",
                protocol.name(),
                each(client),
                each(server),
                1e6 / each(client + server),
                f64::from(MESSAGES) / seconds,
            );
        });
    }

    fn loopback(machine: &Machine) -> Arc<dyn Host> {
        machine.host("here", ["127.0.0.1".parse().unwrap()])
    }

    /// The processor time of this thread so far (`/proc/thread-self/schedstat`, in nanoseconds).
    fn processor_micros() -> f64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanos = stat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok());
        nanos.unwrap_or(0.0) / 1e3
    }

    const MESSAGES: u32 = 100_000;
    const CONNECTIONS: u32 = 8;
}
