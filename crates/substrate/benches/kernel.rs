//! The speed of the kernel's sockets through the seam, and the precision of its timers: both sides
//! on one machine, each in its own thread and run.
//!
//! `cargo bench -p trackbed-substrate --bench kernel` prints one line for each measurement;
//! arguments choose some of them by name.

#[cfg(target_os = "linux")]
#[path = "../tests/support/mod.rs"]
mod support;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("Linux kernel sockets are not available on this platform");
}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::future::poll_fn;
    use std::io::IoSliceMut;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;
    use std::time::Duration;

    use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
    use trackbed_substrate::kernel::{Execution, Machine, Origin};
    use trackbed_substrate::{
        Datagram, Host, ReceivedMeta, TcpOptions, UdpSocket, now, sleep, spawn, yield_now,
    };

    use crate::support::{address, datagram, echo, measure, receive_into, send, send_as};

    pub fn main() {
        measure(&[
            ("timer", timer),
            ("udp-echo", udp_echo),
            ("udp-single", || udp_stream("one by one", 1)),
            ("udp-batch", || udp_stream("in batches of 50", 50)),
            ("tcp", tcp_stream),
        ]);
    }

    fn execute<T, F: Future<Output = T>>(main: impl FnOnce(Machine) -> F) -> T {
        Execution::new(Origin::now()).run(main).unwrap_or_else(|error| panic!("{error}"))
    }

    fn loopback(machine: &Machine) -> Arc<dyn Host> {
        machine.host("here", [address("127.0.0.1", 0).ip()])
    }

    /// Runs `server` in a separate thread and `client` in this one, with the server's address.
    fn both<S: Future<Output = ()>, C: Future<Output = ()>>(
        server: impl FnOnce(Arc<dyn Host>, Sender<SocketAddr>) -> S + Send,
        client: impl FnOnce(Arc<dyn Host>, SocketAddr) -> C,
    ) {
        let (sender, receiver): (_, Receiver<SocketAddr>) = channel();
        thread::scope(|scope| {
            scope.spawn(|| execute(|machine| server(loopback(&machine), sender)));
            let remote = receiver.recv().expect("the server has begun");
            execute(|machine| client(loopback(&machine), remote));
        });
    }

    /// How late a sleep of a millisecond ends.
    fn timer() {
        let mut late: Vec<Duration> = execute(|_| async {
            let mut late = Vec::new();
            for _ in 0..5_000 {
                let due = now() + MILLISECOND;
                sleep(MILLISECOND).await;
                late.push(now() - due);
            }
            late
        });
        late.sort_unstable();
        let at = |percent: usize| late[(late.len() - 1) * percent / 100];
        println!(
            "sleep of 1 ms: late by {:?} (median), {:?} (p99), {:?} (worst)",
            at(50),
            at(99),
            at(100)
        );
    }

    /// One datagram of 1,200 bytes in flight at a time.
    fn udp_echo() {
        const ROUNDS: u32 = 100_000;
        both(
            |host, ready| async move {
                let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
                ready.send(socket.local_addr()).unwrap();
                spawn(echo(socket)).detach();
                // Ends with the client, or nearly.
                sleep(Duration::from_secs(4)).await;
            },
            |host, remote| async move {
                let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
                let mut buffer = vec![0; 2_048];
                let start = now();
                for _ in 0..ROUNDS {
                    send(&*socket, remote, &[0; 1_200]).await.unwrap();
                    receive_into(&*socket, &mut buffer).await.unwrap();
                }
                let each = (now() - start) / ROUNDS;
                println!("UDP echo of 1,200 B: {each:?} for a round trip");
            },
        );
    }

    /// Datagrams of 1,200 bytes, `batch` with each call, as fast as they go for a second.
    fn udp_stream(name: &str, batch: usize) {
        both(
            |host, ready| async move {
                let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
                ready.send(socket.local_addr()).unwrap();
                let (bytes, span) = swallow(&*socket).await;
                let rate = bytes as f64 * 8.0 / span.as_secs_f64() / 1e9;
                println!("UDP, 1,200 B {name}: {rate:.2} Gbit/s received");
            },
            |host, remote| async move {
                let socket = host.bind_udp(address("127.0.0.1", 0)).unwrap();
                let payload = vec![0; 1_200 * batch];
                let batch = Datagram { segment_size: Some(1_200), ..datagram(remote, &payload) };
                let start = now();
                let mut sent = 0;
                while now() - start < Duration::from_secs(1) {
                    send_as(&*socket, batch).await.unwrap();
                    sent += payload.len();
                    // The clock moves between polls.
                    yield_now().await;
                }
                let rate = sent as f64 * 8.0 / (now() - start).as_secs_f64() / 1e9;
                println!("UDP, 1,200 B {name}: {rate:.2} Gbit/s sent");
                sleep(Duration::from_millis(50)).await;
                send(&*socket, remote, b"end").await.unwrap();
            },
        );
    }

    /// Receives until the end, and returns the amount and the time.
    async fn swallow(socket: &dyn UdpSocket) -> (usize, Duration) {
        let mut buffers = [(); 8].map(|()| vec![0; 65_536]);
        let mut bytes = 0;
        let mut span = None;
        loop {
            let mut slices = buffers.each_mut().map(|buffer| IoSliceMut::new(buffer));
            let mut meta = [ReceivedMeta::default(); 8];
            let count = poll_fn(|cx| socket.poll_recv(cx, &mut slices, &mut meta)).await.unwrap();
            for meta in &meta[..count] {
                if meta.len == 3 {
                    return (bytes, span.map_or(MILLISECOND, |(first, last)| last - first));
                }
                bytes += meta.len;
            }
            let first = span.map_or(now(), |(first, _)| first);
            span = Some((first, now()));
        }
    }

    /// 8 GB over one connection.
    fn tcp_stream() {
        const BYTES: usize = 8_000_000_000;
        both(
            |host, ready| async move {
                let local = address("127.0.0.1", 0);
                let listener = host.listen_tcp(local, &TcpOptions::default()).unwrap();
                ready.send(listener.local_addr()).unwrap();
                let mut stream = listener.accept().await.unwrap();
                let mut buffer = vec![0; 256 << 10];
                let start = now();
                let mut received = 0;
                while let count @ 1.. = stream.read(&mut buffer).await.unwrap() {
                    received += count;
                }
                let rate = received as f64 * 8.0 / (now() - start).as_secs_f64() / 1e9;
                println!("TCP, 8 GB: {rate:.1} Gbit/s");
            },
            |host, remote| async move {
                let connect = host.connect_tcp(None, remote, &TcpOptions::default());
                let mut stream = connect.await.unwrap();
                let chunk = vec![0; 256 << 10];
                let mut left = BYTES;
                while left > 0 {
                    left -= stream.write(&chunk[..chunk.len().min(left)]).await.unwrap();
                }
                stream.close().await.unwrap();
                let _ = stream.read(&mut [0]).await;
            },
        );
    }

    const MILLISECOND: Duration = Duration::from_millis(1);
}
