//! A test's network, and the run of its code.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use trackbed_core::{Seed, Time};
use trackbed_measure::keylog::KeyLog;
use trackbed_net::{BuildError, Duplex, Network, NetworkBuilder, NodeId};
use trackbed_substrate::simulated::Simulation;

use crate::capture::{self, Recording};
use crate::end::End;
use crate::failure::Failure;
use crate::hook::{Hook, Packet, hooked};
use crate::link::Link;
use crate::results::{Recorder, Results};

/// Links and virtual time for one test.
///
/// ```
/// use std::time::Duration;
/// use trackbed_test::{Link, Track, UdpSocket, elapsed};
///
/// let mut track = Track::new(1);
/// let (a, b) = track.link(Link::new().delay(Duration::from_millis(20)));
/// let arrival = track.run(async {
///     let receiver = UdpSocket::bind(&b, b.address(9)).unwrap();
///     let sender = UdpSocket::bind(&a, a.address(0)).unwrap();
///     sender.send_to(b"hello", b.address(9)).await.unwrap();
///     receiver.recv_from(&mut [0; 9]).await.unwrap();
///     elapsed()
/// });
/// assert_eq!(arrival, Duration::from_millis(20));
/// ```
pub struct Track {
    seed: u64,
    links: Vec<Joined>,
    time_limit: Duration,
    captures: Option<PathBuf>,
    secrets: KeyLog,
    recorders: Vec<Recorder>,
}

/// A link, its ends, and the hooks on what each end sends.
struct Joined {
    link: Link,
    ends: [End; 2],
    hooks: [Vec<Hook>; 2],
}

impl Track {
    /// A track without links. All losses and random numbers come from `seed`.
    ///
    /// ```
    /// let track = trackbed_test::Track::new(1);
    /// ```
    pub fn new(seed: u64) -> Track {
        let (links, secrets) = (Vec::new(), KeyLog::default());
        let recorders = Vec::new();
        Track { seed, links, time_limit: TIME_LIMIT, captures: None, secrets, recorders }
    }

    /// Adds two ends, joined by `link`. Ends of different links cannot reach each other.
    ///
    /// # Panics
    /// If `link` has a queue and no rate.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track};
    /// let mut track = Track::new(1);
    /// let (a, b) = track.link(Link::new());
    /// ```
    #[track_caller]
    pub fn link(&mut self, link: Link) -> (End, End) {
        if let Some(problem) = link.problem() {
            panic!("Track::link: {problem}");
        }
        let number = u16::try_from(self.links.len()).expect("a track has at most 65,536 links");
        let [first, second] = link.names_of_ends(self.links.len());
        let ends = [End::new(first, number, false), End::new(second, number, true)];
        self.links.push(Joined { link, ends: ends.clone(), hooks: [Vec::new(), Vec::new()] });
        ends.into()
    }

    /// Calls `hook` for each packet that `end` sends, before its link. The hook may read, change or
    /// discard the packet. It must not use sockets. A panic in it fails the run.
    ///
    /// # Panics
    /// If `end` belongs to another track.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track};
    /// let mut track = Track::new(1);
    /// let (a, b) = track.link(Link::new());
    /// track.on_send(&a, |packet| println!("{}: {} B", packet.number(), packet.bytes().len()));
    /// ```
    #[track_caller]
    pub fn on_send(&mut self, end: &End, hook: impl FnMut(&mut Packet) + Send + 'static) {
        for joined in &mut self.links {
            for (own, hooks) in joined.ends.iter().zip(&mut joined.hooks) {
                if own.is(end) {
                    return hooks.push(Box::new(hook));
                }
            }
        }
        panic!(
            "Track::on_send: the end \"{}\" belongs to another track; use one of this",
            end.name()
        );
    }

    /// Fails runs that exceed `limit` of virtual time, in place of one hour.
    ///
    /// ```
    /// # use trackbed_test::Track;
    /// use std::time::Duration;
    ///
    /// let mut track = Track::new(1);
    /// track.time_limit(Duration::from_secs(10));
    /// ```
    pub fn time_limit(&mut self, limit: Duration) {
        self.time_limit = limit;
    }

    /// Writes captures of failed runs to `folder`. By default it is `trackbed-test` in the build's
    /// folder, such as `target/debug/trackbed-test`.
    ///
    /// ```
    /// let mut track = trackbed_test::Track::new(1);
    /// track.captures(std::env::temp_dir());
    /// ```
    pub fn captures(&mut self, folder: impl Into<PathBuf>) {
        self.captures = Some(folder.into());
    }

    /// Where the code under test may log its TLS secrets, so that Wireshark decrypts the capture.
    ///
    /// ```
    /// let secrets = trackbed_test::Track::new(1).secrets();
    /// secrets.log("CLIENT_TRAFFIC_SECRET_0", &[0; 32], &[1; 32]);
    /// ```
    pub fn secrets(&self) -> Secrets {
        Secrets(self.secrets.clone())
    }

    /// Takes what this run measures, as a run of the cell with these factors. If the run fails, it
    /// counts as failed.
    ///
    /// ```
    /// # use trackbed_test::{Results, Track};
    /// let results = Results::new("handshakes");
    /// let record = Track::new(1).recorder(&results, &[("protocol", "mine"), ("loss", "0.01")]);
    /// record.record("handshake_ms", 61.5);
    /// ```
    pub fn recorder(&mut self, results: &Results, factors: &[(&str, &str)]) -> Recorder {
        let recorder = results.begin(self.seed, factors);
        self.recorders.push(recorder.clone());
        recorder
    }

    /// Executes `future` to its end, and the tasks that it [spawns](crate::spawn) as long as it
    /// runs. Returns its output.
    ///
    /// An `Err` is an output as well. Use `unwrap` or `assert!` inside `future` to get a capture.
    ///
    /// # Panics
    /// With the text of the [`Failure`], if the run fails: see [`Track::try_run`].
    ///
    /// ```
    /// assert_eq!(trackbed_test::Track::new(1).run(async { 1 + 1 }), 2);
    /// ```
    #[track_caller]
    pub fn run<F>(self, future: F) -> F::Output
    where
        F: Future + Send,
        F::Output: Send,
    {
        match self.try_run(future) {
            Ok(output) => output,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// The same as [`Track::run`], with the failure as an error.
    ///
    /// # Errors
    /// If `future` or a task panics, if all of them wait and nothing can wake them, if the time
    /// limit is reached, if tasks wake one another without end, or if the links are impossible.
    ///
    /// ```
    /// # use trackbed_test::Track;
    /// let failure = Track::new(1).try_run(async { panic!("a bug") }).unwrap_err();
    /// assert!(failure.to_string().contains("a bug"));
    /// ```
    pub fn try_run<F>(self, future: F) -> Result<F::Output, Failure>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let Track { seed, time_limit, captures, secrets, recorders, .. } = self;
        let root = Seed::of_run(seed, 0);
        let ends: Vec<End> = self.links.iter().flat_map(|joined| joined.ends.clone()).collect();
        let (mut network, nodes) = build(self.links, &root).map_err(|error| {
            let capture = Err("the run did not begin".to_owned());
            Failure { why: format!("the network cannot be built: {error}"), seed, capture }
        })?;
        let recording = Recording::default();
        network.set_tap(Some(Box::new(recording.clone())));
        let simulation = Simulation::default()
            .with_time_limit(Time::ZERO + time_limit)
            .with_events_per_instant(EVENTS_PER_INSTANT);
        let result = simulation.run(root, network, |hosts| {
            for (end, node) in ends.iter().zip(nodes) {
                end.enter(hosts.at(node));
            }
            future
        });
        result.map_err(|error| {
            let folder = captures.unwrap_or_else(capture::default_folder);
            let written = recording.write(&folder, seed, &ends, &secrets);
            let capture = written.map_err(|why| format!("{}: {why}", folder.display()));
            recorders.iter().for_each(|recorder| recorder.fail(&error.to_string()));
            Failure { why: error.to_string(), seed, capture }
        })
    }
}

/// The network, and its nodes in the order of the ends.
fn build(links: Vec<Joined>, seed: &Seed) -> Result<(Network, Vec<NodeId>), BuildError> {
    let mut builder = NetworkBuilder::default();
    let mut nodes = Vec::new();
    for (number, Joined { link, ends, hooks }) in links.into_iter().enumerate() {
        let [forward, backward] = link.directions();
        let own = seed.child(&format!("link-{number}"));
        let mut duplex = Duplex::new(&forward, &backward, &own).with_mtu(link.mtu);
        let [of_first, of_second] = hooks;
        duplex.forward = hooked(of_first, duplex.forward);
        duplex.backward = hooked(of_second, duplex.backward);
        let hosts = ends.each_ref().map(|end| builder.host(end.name()));
        let [first, second] = [0, 1].map(|n| trackbed_net::End::new(hosts[n], ends[n].addresses()));
        builder.connect(first, second, duplex);
        nodes.extend(hosts);
    }
    Ok((builder.build()?, nodes))
}

/// A log of TLS secrets, see [`Track::secrets`]. Clones share it.
///
/// ```
/// #[derive(Debug)]
/// struct Log(trackbed_test::Secrets);
///
/// impl rustls::KeyLog for Log {
///     fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
///         self.0.log(label, client_random, secret);
///     }
/// }
/// # let _log = Log(trackbed_test::Track::new(1).secrets());
/// ```
#[derive(Clone)]
pub struct Secrets(KeyLog);

impl Secrets {
    /// Adds a secret. The arguments are those of the key log callback of TLS libraries.
    ///
    /// ```
    /// let secrets = trackbed_test::Track::new(1).secrets();
    /// secrets.log("CLIENT_TRAFFIC_SECRET_0", &[0; 32], &[1; 32]);
    /// ```
    pub fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        self.0.log(label, client_random, secret);
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(..)")
    }
}

const TIME_LIMIT: Duration = Duration::from_secs(3600);

/// A loop that sends without waiting ends before its packets fill the memory.
const EVENTS_PER_INSTANT: u64 = 300_000;
