//! Round-trip times between two namespaces over a link of so many milliseconds each way.
//!
//! `cargo run --release -p trackbed-emulator --example round_trip -- [MILLISECONDS] [COUNT]`
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use trackbed_core::Seed;
use trackbed_emulator::namespace::{self, Interface, NetNamespace};
use trackbed_emulator::{Backstage, Clock, Emulator};
use trackbed_net::models::Delay;
use trackbed_net::{Duplex, End, LinkSpec, NetworkBuilder};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap());
    let delay = Duration::from_millis(arguments.next().unwrap_or(10));
    let count = arguments.next().unwrap_or(500);
    namespace::acquire().unwrap();
    let (near, far) = (NetNamespace::new().unwrap(), NetNamespace::new().unwrap());
    let mut backstage = Backstage::new().unwrap();
    let mut builder = NetworkBuilder::new();
    let mut ports = Vec::new();
    for (name, host, address) in [("near", &near, "10.0.0.1"), ("far", &far, "10.0.0.2")] {
        let port = backstage.attach(host, "link", 1500).unwrap();
        host.run(|| Interface::named("link")?.add_address((address.parse().unwrap(), 24)))
            .unwrap()
            .unwrap();
        ports.push((builder.edge(name), port));
    }
    let spec = LinkSpec::new().then(Delay::fixed(delay));
    let link = Duplex::new(&spec, &spec, &Seed::of_run(1, 0));
    builder.connect(End::new(ports[0].0, []), End::new(ports[1].0, []), link);
    let (emulator, remote) =
        Emulator::new(builder.build().unwrap(), ports, Clock::start()).unwrap();
    let emulation = std::thread::spawn(|| emulator.run().unwrap());
    let server = far.run(|| UdpSocket::bind("10.0.0.2:7").unwrap()).unwrap();
    let client = near.run(|| UdpSocket::bind("10.0.0.1:0").unwrap()).unwrap();
    let echo = std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        loop {
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            if length == 0 {
                return;
            }
            server.send_to(&buffer[..length], from).unwrap();
        }
    });
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            client.send_to(b"hello", "10.0.0.2:7").unwrap();
            client.recv(&mut [0; 2000]).unwrap();
            (begun.elapsed() - delay * 2).as_secs_f64() * 1e3
        })
        .collect();
    client.send_to(b"", "10.0.0.2:7").unwrap();
    echo.join().unwrap();
    remote.stop();
    let (_, certificate) = emulation.join().unwrap();
    times.sort_by(f64::total_cmp);
    let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
    println!("added round-trip time: median {:.3} ms, p99 {:.3} ms", at(0.5), at(0.99));
    println!("{certificate}");
    println!(
        "processor: {:.1} us a packet, {:.1} % of the time",
        certificate.processor.as_secs_f64() * 1e6 / certificate.packets() as f64,
        certificate.processor.as_secs_f64() / certificate.elapsed.as_secs_f64() * 100.0
    );
}
