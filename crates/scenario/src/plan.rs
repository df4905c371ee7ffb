//! What a scenario comes to: everything resolved, nothing left that can fail for lack of
//! information.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{CipherSuite, Handshake, KeyExchange, TlsVersion};
use trackbed_core::Bitrate;
use trackbed_device::processor::costs::Cost;
use trackbed_device::processor::durations::Durations;
use trackbed_net::LinkSpec;
use trackbed_programs::{Client, Server};
use trackbed_protocols::{Protocol, TlsParameters, TransportParameters};
use trackbed_workloads::Prepared;
use trackbed_workloads::environment::{Environment, Reconnect};

use crate::drive::Radio;
use crate::ip::IpVersion;

/// A scenario, resolved: the cells to run, and how often.
pub struct Plan {
    /// The scenario's name, for results.
    pub name: String,
    /// What is compared, in one line.
    pub summary: String,
    /// The study whose figures are shown beside the results, if the scenario names one.
    pub paper: Option<String>,
    /// Where the runs happen unless the user says otherwise.
    pub home: Home,
    /// Where all randomness comes from.
    pub seed: u64,
    /// The runs of the cell that has the most, at least one.
    pub runs: u32,
    /// The combinations of factors: in the order of the file, the last axis turning fastest.
    pub cells: Vec<Cell>,
    /// The factors that describe the track and the load, such as a loss that is swept; the others
    /// are what the user chooses between.
    pub conditions: Vec<String>,
    /// The scenario as it was written.
    pub source_text: String,
    /// A SHA-256 digest, in hexadecimal, of all that the result of a run depends on: the seed and
    /// every cell with its defaults and the contents of its files. Comments, the name and the
    /// number of runs are not part of it: more runs of the same plan continue it.
    pub hash: String,
    /// The same without what is done on the clients' machine alone: the inference.
    pub hash_of_ends: String,
    /// What the user should know, such as combinations that were left out.
    pub notes: Vec<String>,
    /// The commands that stand in the scenario's file, each once: runs in real time start them, and whoever
    /// wrote the file has chosen them. Those of the user's own settings are not among them.
    pub commands: Vec<String>,
}

/// One combination of factors.
pub struct Cell {
    /// What tells this cell from the others, in the order of the file.
    pub factors: Vec<(String, Factor)>,
    /// The two ends.
    pub endpoint: Endpoint,
    /// What lies between them.
    pub network: NetworkPlan,
    /// The radio that makes the links, if there is one: `network` then says nothing of them.
    pub radio: Option<Radio>,
    /// What changes during a run.
    pub environment: Environment,
    /// What computes beside the communication; `None` if the scenario says nothing of it.
    pub inference: Option<Inference>,
    /// The workload's name.
    pub workload_name: &'static str,
    /// What is sent.
    pub workload: Arc<dyn Prepared>,
    /// How often it is run.
    pub runs: u32,
}

impl Plan {
    /// Runs of all cells together.
    pub fn units(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.runs)).sum()
    }

    /// Gives every cell this many runs.
    pub fn set_runs(&mut self, runs: u32) {
        self.runs = runs;
        self.cells.iter_mut().for_each(|cell| cell.runs = runs);
    }

    /// How many runs cells have, in words: `30 runs each`.
    pub fn runs_in_words(&self) -> String {
        let least = self.cells.iter().map(|cell| cell.runs).min().unwrap_or(self.runs);
        match least == self.runs {
            true => format!("{least} runs each"),
            false => format!("{least} to {} runs each", self.runs),
        }
    }
}

/// The substrate that a scenario is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// Virtual time.
    #[default]
    Virtual,
    /// The kernel, in real time.
    Emulated,
}

impl Home {
    /// What scenarios write for [`Home::Virtual`] and [`Home::Emulated`].
    pub(crate) const NAMES: [&str; 2] = ["virtual", "emulated"];

    pub(crate) fn from_name(name: &str) -> Home {
        if name == Home::NAMES[1] { Home::Emulated } else { Home::Virtual }
    }
}

/// What computes beside the communication of a cell, whose load is read every second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// The work; `None` where there is none, and only the load is read.
    pub work: Option<Work>,
    /// What it is done on in virtual time.
    pub device: Device,
}

/// A device as a model, for virtual time: what communication and inference take of its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Cores that threads share evenly, at least one.
    pub cores: u32,
    /// What the frames of the inference take; `None` where there is no inference, or nobody has said.
    pub durations: Option<Arc<Durations>>,
    /// What messages and packets take, encryption included.
    pub cost: Cost,
    /// Where these come from, in words.
    pub sources: Vec<String>,
}

/// Work whose frames are counted and timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// An object detector.
    Detector {
        /// What runs the model, `onnxruntime` or `rten`; `None` for what there is.
        runtime: Option<String>,
        /// The model; `None` for the generated one.
        model: Option<PathBuf>,
        /// The folder of the frames; `None` for generated ones.
        frames: Option<PathBuf>,
        /// How many threads share the work; `None` for as many as there are cores.
        threads: Option<u32>,
    },
    /// A command that `sh -c` runs and that says a line for each frame.
    Command(String),
}

/// The value of a factor.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// A name, such as a protocol's.
    Text(String),
    /// A quantity in the unit that the factor's name ends in (`_ms`, `_mbps`, `_bytes`, `_hz`),
    /// a share in 0..=1, or a count.
    Number(f64),
}

/// What the two ends speak.
#[derive(Clone)]
pub struct Endpoint {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// The version of IP below it.
    pub ip: IpVersion,
    /// The TLS version; `None` where nothing is encrypted.
    pub tls: Option<TlsVersion>,
    /// How connections begin.
    pub handshake: Handshake,
    /// The cipher, where the scenario says one; else the ends agree on one.
    pub cipher: Option<CipherSuite>,
    /// What lies below TLS; without an observer.
    pub transport: TransportParameters,
    /// The ends that are not ours.
    pub programs: Programs,
}

/// The ends that are programs of others. They run on the emulated substrate alone.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The server; `None` where it is ours.
    pub server: Option<Server>,
    /// The client; `None` where it is ours.
    pub client: Option<ForeignClient>,
}

/// A client that is not ours.
#[derive(Clone, Debug)]
pub struct ForeignClient {
    /// The program.
    pub program: Client,
    /// How long it may take.
    pub timeout: Duration,
}

impl Programs {
    /// Whether both ends are ours.
    pub fn is_empty(&self) -> bool {
        self.server.is_none() && self.client.is_none()
    }

    /// The port of the server, in place of that of ours.
    pub fn port(&self) -> Option<u16> {
        self.server.as_ref().map(|server| server.port())
    }
}

/// The network between the phones and the server.
#[derive(Clone, Debug)]
pub struct NetworkPlan {
    /// The link that all phones share.
    pub link: LinkPlan,
    /// Another way from each phone to the server, over another address of the phone's.
    pub second: Option<LinkPlan>,
    /// A link of each phone's own, between it and the shared one.
    pub access: Option<LinkPlan>,
}

/// A link with both directions.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// From the phone to the server.
    pub up: LinkSpec,
    /// From the server to the phone.
    pub down: LinkSpec,
    /// The largest packet in bytes, IP header included.
    pub mtu: u32,
    /// The rate of the slower direction, if both have one that does not change.
    pub rate: Option<Bitrate>,
    /// The delay of both directions together, if it is the same for every packet.
    pub round_trip_delay: Option<Duration>,
}

impl Cell {
    /// How many networks each phone is in during a run, one after the other.
    pub fn networks(&self) -> u32 {
        let reconnections = match self.environment.reconnect() {
            Reconnect::SameAddress => 0,
            Reconnect::NewAddress | Reconnect::Migration => {
                self.environment.reconnections().saturating_add(self.workload.reconnections())
            }
        };
        self.workload.networks().saturating_add(reconnections)
    }
}

impl Endpoint {
    /// What both ends offer, so that the negotiation can only come out as the scenario says.
    pub fn tls_parameters(&self) -> TlsParameters {
        let all = TlsParameters::default();
        TlsParameters {
            versions: self.tls.map_or(all.versions, |version| vec![version]),
            ciphers: self.cipher.map_or(all.ciphers, |cipher| vec![cipher]),
            key_exchanges: match &self.programs.server {
                None => all.key_exchanges,
                Some(server) if server.abilities().x25519 => {
                    vec![KeyExchange::X25519, KeyExchange::P256]
                }
                // A share that it does not take would cost a round trip.
                Some(_) => vec![KeyExchange::P256],
            },
        }
    }
}

impl NetworkPlan {
    /// The largest packet that passes on every link, in bytes, IP header included.
    pub fn mtu(&self) -> u32 {
        let others = [&self.access, &self.second].into_iter().flatten().map(|link| link.mtu);
        others.fold(self.link.mtu, u32::min)
    }

    /// The time that a packet and its answer take without serialisation and queueing; `None` if
    /// the delay varies.
    pub fn round_trip_time(&self) -> Option<Duration> {
        let access = match &self.access {
            Some(access) => access.round_trip_delay?,
            None => Duration::ZERO,
        };
        self.link.round_trip_delay?.checked_add(access)
    }
}

impl Factor {
    /// The value as it stands in result documents.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Factor::Text(text) => text.as_str().into(),
            Factor::Number(number)
                if number.fract() == 0.0 && (0.0..WHOLE_MAX).contains(number) =>
            {
                (*number as u64).into()
            }
            Factor::Number(number) => (*number).into(),
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Factor::Text(text) => f.write_str(text),
            Factor::Number(number) => number.fmt(f),
        }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("name", &self.name)
            .field("runs", &self.runs)
            .field("cells", &self.cells)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("factors", &self.factors).finish_non_exhaustive()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("protocol", &self.protocol.name())
            .field("tls", &self.tls)
            .field("handshake", &self.handshake)
            .field("cipher", &self.cipher)
            .field("transport", &self.transport)
            .field("programs", &self.programs)
            .finish()
    }
}

/// Below this, every whole number has a 64-bit float of its own.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Plan>();
    }

    #[test]
    fn whole_numbers_are_written_without_a_point() {
        assert_eq!(Factor::Number(50.0).to_json().to_string(), "50");
        assert_eq!(Factor::Number(0.003).to_json().to_string(), "0.003");
        assert_eq!(Factor::Text("1.3".to_owned()).to_json().to_string(), "\"1.3\"");
    }
}
