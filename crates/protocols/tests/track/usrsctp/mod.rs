//! Bulk transfers of SCTP with usrsctp, the implementation of FreeBSD, as one of the ends, in virtual
//! time: a file takes as long as between two ends of ours. `configure` in `stepped.c` lists where
//! usrsctp deviates from RFC 9260, and how the comparison excludes that.

#[path = "../../loopback/usrsctp/compiled.rs"]
mod compiled;
mod stepped;

use std::path::PathBuf;

use self::stepped::Stepped;
use crate::support::*;

/// Which end is usrsctp's, if any. The client sends the file.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Ours,
    ItsClient,
    ItsServer,
}

/// Time comes from the simulation, and tags and sequence numbers are the same on each run.
fn program() -> Option<PathBuf> {
    let libraries = ["-Wl,--wrap=gettimeofday,--wrap=read_random", "-l:libusrsctp.a", "-lpthread"];
    compiled::program("track/usrsctp/stepped.c", &libraries)
}

/// Our end, with the values that `configure` in `stepped.c` gives to usrsctp.
fn transport() -> TransportParameters {
    let sctp = SctpParameters {
        rto_initial: Duration::from_secs(1),
        rto_min: Duration::from_secs(1),
        rto_max: Duration::from_secs(60),
        max_burst: 4,
        initial_window: 4,
        sack_delay: Duration::from_millis(2),
        // usrsctp does not ask for immediate acknowledgments while its window is small.
        immediate_sack: false,
    };
    let (encapsulation, window) = (Encapsulation::None, 1 << 24);
    TransportParameters { encapsulation, sctp, window, ..TransportParameters::default() }
}

/// Our server, which answers a file with its length.
fn serve(track: &Track) -> ServerHandle {
    let count = |request: Request| async {
        let bytes = body::drain(request.body).await.unwrap();
        Response { status: 200, body: body::full(bytes.to_string()) }
    };
    let config = ServerConfig { transport: transport(), ..ServerConfig::default() };
    track.serve_with(protocol("sctp"), &config, Rc::new(count))
}

/// Sends a file to the server by our client, and takes its answer.
async fn send(dialer: Rc<dyn Dialer>, bytes: u64) {
    let connection = dialer.connect(server_address()).await.unwrap();
    let response = connection.exchange(post("/bulk", body::zeros(bytes))).await.unwrap();
    let counted = body::collect(response.body, 100).await.unwrap();
    assert_eq!(counted, bytes.to_string());
}

async fn transfer(program: PathBuf, track: Track, ends: Ends, bytes: u64) {
    let its_client: SocketAddr = "10.0.0.1:9000".parse().unwrap();
    let [client_port, server_port] = [its_client, server_address()].map(|it| it.port().to_string());
    let config = ClientConfig { transport: transport(), ..ClientConfig::default() };
    match ends {
        Ends::Ours => {
            send(track.dialer(protocol("sctp"), &serve(&track), config), bytes).await;
        }
        Ends::ItsServer => {
            let server = Stepped::start(&program, &["server".to_owned(), server_port]);
            let host = Arc::clone(&track.server);
            // Packets find our client by the port in their header, whatever this address has.
            let client = its_client;
            spawn(async move { server.attend(&*host, server_address(), client).await }).detach();
            send(protocol("sctp").dialer(track.client, &config).unwrap(), bytes).await;
        }
        Ends::ItsClient => {
            let _server = serve(&track);
            let words = ["client".to_owned(), client_port, server_port, bytes.to_string()];
            let client = Stepped::start(&program, &words);
            client.attend(&*track.client, its_client, server_address()).await;
        }
    }
}

/// The seconds until a client has an answer to a file, from its INIT on.
fn completion(program: &Path, ends: Ends, link: &LinkSpec, bytes: u64, seed: u64) -> f64 {
    let seed = Seed::of_run(seed, 0);
    let network = network(link, link, &seed);
    let program = program.to_owned();
    let took = simulate_on(network, seed, |track| async move {
        transfer(program, track, ends, bytes).await;
        now() - Time::ZERO
    });
    took.as_secs_f64()
}

/// A link whose queue holds this many packets.
fn link(mbps: u64, delay_ms: u64, packets: u64) -> LinkSpec {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(packets * 1_500));
    LinkSpec::simple(Bitrate::from_mbps(mbps), queue, Duration::from_millis(delay_ms))
}

fn lossy() -> LinkSpec {
    link(100, 40, 667).with(Loss::bernoulli(Ratio::from_parts(5, 1_000)))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean difference of pairs.
fn standard_error(pairs: &[(f64, f64)]) -> f64 {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let centre = mean(&differences);
    let squares: f64 = differences.iter().map(|difference| (difference - centre).powi(2)).sum();
    let count = pairs.len() as f64;
    (squares / (count - 1.0) / count).sqrt()
}

/// Without random loss nothing is left to chance. With it, the means are over enough files that twice
/// the standard error of the difference, paired by seed, is below a fifth of the tolerance. That link
/// is fast, so that a loss ends slow start before the queue grows: usrsctp's T3-rtx, which goes off
/// after a second whatever arrives, takes a growing round-trip time for loss.
#[test]
#[ignore = "thorough: usrsctp"]
fn a_file_takes_as_long_to_usrsctp_and_from_it() {
    let Some(program) = program() else { return };
    for (name, link, bytes, seeds) in [
        ("10 Mbit/s, 20 ms, a queue of 33 packets", link(10, 20, 33), 24_000_000, 1),
        ("100 Mbit/s, 40 ms, 0.5 % loss", lossy(), 4_000_000, 20),
        ("5 Mbit/s, 100 ms, a queue of 50 packets", link(5, 100, 50), 24_000_000, 1),
    ] {
        let measure = |ends| -> Vec<f64> {
            (0..seeds).map(|seed| completion(&program, ends, &link, bytes, seed)).collect()
        };
        let ours = measure(Ends::Ours);
        for ends in [Ends::ItsClient, Ends::ItsServer] {
            let other = measure(ends);
            let (expected, took) = (mean(&ours), mean(&other));
            let ratio = took / expected;
            eprintln!("{name}: {expected:.3} s, {ends:?} {took:.3} s, ratio {ratio:.3}");
            assert!((ratio - 1.0).abs() < TOLERANCE, "{name}, {ends:?}: {ratio}");
            if seeds > 1 {
                let pairs: Vec<_> = other.into_iter().zip(ours.iter().copied()).collect();
                let error = 2.0 * standard_error(&pairs) / expected;
                eprintln!("    twice the standard error: {error:.4}");
                assert!(error < TOLERANCE / 5.0, "{name}, {ends:?}: {error}");
            }
        }
    }
}

#[test]
#[ignore = "thorough: usrsctp"]
fn transfers_with_usrsctp_repeat_to_the_nanosecond() {
    let Some(program) = program() else { return };
    for ends in [Ends::ItsClient, Ends::ItsServer] {
        let [first, again, other] =
            [1, 1, 2].map(|seed| completion(&program, ends, &lossy(), 1_000_000, seed));
        assert_eq!(first.to_bits(), again.to_bits(), "{ends:?}");
        assert_ne!(first.to_bits(), other.to_bits(), "{ends:?}");
    }
}

/// By how much completion times may differ.
const TOLERANCE: f64 = 0.05;
