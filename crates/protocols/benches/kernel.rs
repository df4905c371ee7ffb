//! Throughput of the protocols over the kernel's sockets: client and server on one machine, each in
//! its own thread and run.
//!
//! `cargo bench -p trackbed-protocols --bench kernel` prints one line for each protocol; arguments
//! choose some of them by name.

/// The allocator of the `trackbed` binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("Linux kernel sockets are not available on this platform");
}

#[cfg(target_os = "linux")]
fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    for protocol in trackbed_protocols::registry() {
        if chosen.is_empty() || chosen.iter().any(|name| name == protocol.name()) {
            linux::transfer(*protocol);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use trackbed_connection::{Request, Response, body};
    use trackbed_protocols::{ClientConfig, Protocol, ServerConfig, Trust};
    use trackbed_substrate::kernel::{Execution, Machine, Origin};
    use trackbed_substrate::{Cancel, Host, RunError, now};

    /// A request for 1 GB, on a connection that has carried 100 MB before.
    pub fn transfer(protocol: &'static dyn Protocol) {
        let (sender, receiver) = channel();
        let stop = Cancel::new();
        let serve = Execution::new(Origin::now()).with_cancel(stop.clone());
        thread::scope(|scope| {
            scope.spawn(move || {
                let ended = serve.run(|machine| async move {
                    let listen = "127.0.0.1:0".parse().unwrap();
                    let config = ServerConfig::default();
                    let server =
                        protocol.serve(loopback(&machine), listen, &config, Rc::new(zeros));
                    let server = server.unwrap();
                    let trust = server.trust().map(|trust| trust.as_der().to_vec());
                    sender.send((server.local_addr(), trust)).unwrap();
                    std::future::pending::<()>().await;
                });
                assert!(matches!(ended, Err(RunError::Cancelled { .. })), "{ended:?}");
            });
            let (remote, trust) = receiver.recv().expect("the server has begun");
            let client = Execution::new(Origin::now());
            let took = client.run(|machine| async move {
                let trust = trust.map(Trust::from_der);
                let config = ClientConfig { trust, ..ClientConfig::default() };
                let dialer = protocol.dialer(loopback(&machine), &config).unwrap();
                let connection = dialer.connect(remote).await.unwrap();
                let mut took = Duration::ZERO;
                for len in [100_000_000, BYTES] {
                    let start = now();
                    let request = Request::new(format!("/{len}"), body::empty());
                    let response = connection.exchange(request).await.unwrap();
                    if let Err(error) = body::drain(response.body).await {
                        return Err((error, machine.datagrams_dropped()));
                    }
                    took = now() - start;
                }
                Ok((took, machine.datagrams_dropped()))
            });
            stop.cancel();
            let name = protocol.name();
            match took.unwrap_or_else(|error| panic!("{error}")) {
                Ok((took, dropped)) => {
                    let rate = BYTES as f64 * 8.0 / took.as_secs_f64() / 1e9;
                    println!("{name}, 1 GB: {rate:.2} Gbit/s, {dropped} datagrams lost");
                }
                Err((error, dropped)) => println!("{name}: {error}; {dropped} datagrams lost"),
            }
        });
    }

    fn loopback(machine: &Machine) -> Arc<dyn Host> {
        machine.host("here", ["127.0.0.1".parse().unwrap()])
    }

    async fn zeros(request: Request) -> Response {
        let len = request.path.trim_start_matches('/').parse().unwrap();
        Response { status: 200, body: body::zeros(len) }
    }

    const BYTES: u64 = 1_000_000_000;
}
