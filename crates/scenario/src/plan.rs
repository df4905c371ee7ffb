//! A resolved scenario, with everything needed to run it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{CipherSuite, Handshake, KeyExchange, TlsVersion};
use trackbed_core::{Bitrate, named};
use trackbed_device::processor::costs::Cost;
use trackbed_device::processor::durations::Durations;
use trackbed_measure::results::{FactorKind, UsefulDifference};
use trackbed_net::LinkSpec;
use trackbed_net::medium::{Course, MediumModel};
use trackbed_programs::{Client, Server};
use trackbed_protocols::{Protocol, TlsParameters, TlsSettings, TransportParameters};
use trackbed_workloads::Prepared;
use trackbed_workloads::environment::{Environment, Reconnect};

use crate::drive::Radio;
use crate::files::Input;
use crate::ip::IpVersion;
use crate::schedule::Schedule;

/// A resolved scenario: the cells to run, and the number of runs of each.
pub struct Plan {
    /// The scenario's name, for results.
    pub name: String,
    /// What is compared, in one line.
    pub summary: String,
    /// The study whose figures are shown beside the results, if the scenario names one.
    pub paper: Option<String>,
    /// The default substrate of the runs.
    pub home: Home,
    /// The root seed of all randomness.
    pub seed: u64,
    /// The largest number of runs of any cell, at least one.
    pub runs: u32,
    /// The combinations of factors: in the order of the file, the last axis varying fastest.
    pub cells: Vec<Cell>,
    /// The factors that describe the track and the load, such as a swept loss; the others are the
    /// user's choices.
    pub conditions: Vec<String>,
    /// The factors by name: what their values are.
    pub factors: BTreeMap<String, FactorKind>,
    /// The smallest difference between cells that matters.
    pub useful_difference: UsefulDifference,
    /// The text of the scenario file.
    pub source_text: String,
    /// A SHA-256 digest, in hexadecimal, of all that the result of a run depends on: the seed and
    /// every cell with its defaults and the contents of its files. Comments, the name and the
    /// number of runs are not part of it, so a plan can be continued with more runs.
    pub hash: String,
    /// The same without the inference, which only the clients' machine does.
    pub hash_of_ends: String,
    /// The files and folders that the scenario and its settings name, in the order of their paths.
    pub inputs: Vec<Input>,
    /// Notes for the user, such as combinations that were left out.
    pub notes: Vec<String>,
    /// The distinct commands in the scenario file, which runs in real time execute: the author of
    /// the file chose them. Commands in the user's overrides are not included.
    pub commands: Vec<String>,
}

/// One combination of factors.
#[derive(Clone)]
pub struct Cell {
    /// The factors that distinguish this cell, in the order of the file.
    pub factors: Vec<(String, Factor)>,
    /// The two endpoints.
    pub endpoint: Endpoint,
    /// The network between them.
    pub network: NetworkPlan,
    /// The radio that makes the links, if there is one; `network` then has no link settings.
    pub radio: Option<Radio>,
    /// What changes during a run.
    pub environment: Environment,
    /// The inference beside the communication; `None` if the scenario has none.
    pub inference: Option<Inference>,
    /// The workload's name.
    pub workload_name: &'static str,
    /// What is sent.
    pub workload: Arc<dyn Prepared>,
    /// The metrics that rank the cell, the most significant first.
    pub ranking: Vec<&'static str>,
    /// The number of runs.
    pub runs: u32,
    /// The group whose traffic this is; `None` if the scenario has no groups.
    pub place: Option<Place>,
    /// The cells of the other groups, which share the network in the same run, each with nothing beside it.
    pub beside: Vec<Cell>,
    /// Its number in [`Plan::families`].
    pub family: u32,
}

/// Where the traffic of a cell stands among that of all groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The group's name.
    pub name: String,
    /// Its number in the order of the file.
    pub number: u32,
    /// How its members begin.
    pub schedule: Schedule,
}

impl Plan {
    /// Runs of all cells together.
    pub fn units(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.runs)).sum()
    }

    /// The cells, divided into those whose results one run gives: the groups that share a network.
    pub fn families(&self) -> Vec<Vec<u32>> {
        let mut families = Vec::new();
        for (number, cell) in (0..).zip(&self.cells) {
            let family = cell.family as usize;
            families.resize(families.len().max(family + 1), Vec::new());
            families[family].push(number);
        }
        families
    }

    /// Gives every cell this many runs.
    pub fn set_runs(&mut self, runs: u32) {
        self.runs = runs;
        self.cells.iter_mut().for_each(|cell| cell.runs = runs);
    }

    /// Gives a cell at least this many runs.
    pub fn raise_runs(&mut self, cell: u32, runs: u32) {
        if let Some(cell) = self.cells.get_mut(cell as usize) {
            cell.runs = cell.runs.max(runs);
            self.runs = self.runs.max(runs);
        }
    }

    /// The number of runs of each cell, in words: `30 runs each`.
    pub fn runs_in_words(&self) -> String {
        let least = self.cells.iter().map(|cell| cell.runs).min().unwrap_or(self.runs);
        match least == self.runs {
            true => format!("{least} runs each"),
            false => format!("{least} to {} runs each", self.runs),
        }
    }
}

named! {
    /// The default substrate of a scenario.
    #[derive(Default)]
    pub enum Home {
        /// Virtual time.
        #[default]
        Virtual = "virtual",
        /// The kernel, in real time.
        Emulated = "emulated",
    }
}

/// The inference of a cell, during which the load is measured every second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// The work; `None` to measure only the load.
    pub work: Option<Work>,
    /// The device in virtual time.
    pub device: Device,
}

/// A modelled device for virtual time: the processor time of communication and inference on its
/// cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Cores that threads share evenly, at least one.
    pub cores: u32,
    /// The durations of the inference's frames; `None` without inference or without measurements.
    pub durations: Option<Arc<Durations>>,
    /// The costs of messages and packets, encryption included.
    pub cost: Cost,
    /// The sources of these figures, in words.
    pub sources: Vec<String>,
}

/// Work whose frames are counted and timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// An object detector.
    Detector {
        /// The runtime of the model, `onnxruntime` or `rten`; `None` for the available one.
        runtime: Option<String>,
        /// The model; `None` for the generated one.
        model: Option<PathBuf>,
        /// The folder of the frames; `None` for generated ones.
        frames: Option<PathBuf>,
        /// The number of threads; `None` for one per core.
        threads: Option<u32>,
    },
    /// A command run by `sh -c` that prints a line for each frame.
    Command(String),
}

/// The value of a factor.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// A name, such as a protocol's.
    Text(String),
    /// A quantity in the unit at the end of the factor's name (`_ms`, `_mbps`, `_bytes`, `_hz`), a
    /// share in 0..=1, or a count.
    Number(f64),
}

/// The protocol stack of the two endpoints.
#[derive(Clone)]
pub struct Endpoint {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// The IP version.
    pub ip: IpVersion,
    /// The TLS version; `None` without encryption.
    pub tls: Option<TlsVersion>,
    /// The kind of handshake.
    pub handshake: Handshake,
    /// The cipher, if the scenario sets one; otherwise it is negotiated.
    pub cipher: Option<CipherSuite>,
    /// The other settings of TLS.
    pub tls_settings: TlsSettings,
    /// The transport below TLS; without an observer.
    pub transport: TransportParameters,
    /// The third-party endpoints.
    pub programs: Programs,
}

/// The endpoints that are third-party programs. They run on the emulated substrate only.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The server; `None` for the built-in one.
    pub server: Option<Server>,
    /// The client; `None` for the built-in one.
    pub client: Option<ForeignClient>,
}

/// A third-party client.
#[derive(Clone, Debug)]
pub struct ForeignClient {
    /// The program.
    pub program: Client,
    /// Its timeout.
    pub timeout: Duration,
}

impl Programs {
    /// Whether both endpoints are built in.
    pub fn is_empty(&self) -> bool {
        self.server.is_none() && self.client.is_none()
    }

    /// The server's port if it differs from the built-in server's.
    pub fn port(&self) -> Option<u16> {
        self.server.as_ref().map(|server| server.port())
    }
}

/// The network between the phones and the server.
#[derive(Clone, Debug)]
pub struct NetworkPlan {
    /// The paths from each phone to the server, at least one: the link that all phones share, and one for each
    /// further address of a phone.
    pub paths: Vec<LinkPlan>,
    /// A link of each phone, between it and the shared one.
    pub access: Option<LinkPlan>,
    /// What the phones share on the way to the shared link, before their access links.
    pub medium: Option<Arc<dyn MediumModel>>,
    /// The medium in words; empty without one.
    pub medium_shown: String,
    /// What phones that move meet on the medium of each path; empty if they do not move.
    pub courses: Vec<Arc<Course>>,
}

impl NetworkPlan {
    /// The link that all phones share: the first path.
    pub fn link(&self) -> &LinkPlan {
        &self.paths[0]
    }

    /// Whether a link has a model whose state changes only with packets (`waits_for_packets` of link models).
    pub fn waits_for_packets(&self) -> bool {
        let links = self.paths.iter().chain(&self.access);
        let directions = links.flat_map(|link| [&link.up, &link.down]);
        directions.flat_map(LinkSpec::models).any(|model| model.waits_for_packets())
    }
}

/// A link with both directions.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// From the phone to the server.
    pub up: LinkSpec,
    /// From the server to the phone.
    pub down: LinkSpec,
    /// The largest packet of each direction (up, down) in bytes, IP header included.
    pub mtu: [u32; 2],
    /// The rates of both directions (up, down), if both have one that does not change.
    pub rates: Option<[Bitrate; 2]>,
    /// What the models of both directions (up, down) are, in words.
    pub shown: [String; 2],
    /// The delay of both directions together, if it is the same for every packet.
    pub round_trip_delay: Option<Duration>,
}

impl Cell {
    /// All groups of its run in the order of the file, each as a cell with nothing beside it; itself
    /// without groups.
    pub fn groups(&self) -> Vec<Cell> {
        let own = Cell { beside: Vec::new(), ..self.clone() };
        let mut all: Vec<Cell> = self.beside.iter().cloned().chain([own]).collect();
        all.sort_by_key(|group| group.place.as_ref().map(|place| place.number));
        all
    }

    /// Whether inference uses the processor beside the communication.
    pub fn shares_cores(&self) -> bool {
        self.inference.as_ref().is_some_and(|inference| inference.work.is_some())
    }

    /// The number of networks that each phone uses during a run, one after the other.
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
    /// The client's TLS parameters, so that the negotiation can only give the scenario's values.
    pub fn client_tls(&self) -> TlsParameters {
        let all = TlsParameters::default();
        let key_exchanges = match &self.programs.server {
            None => all.key_exchanges,
            Some(server) if server.abilities().x25519 => {
                vec![KeyExchange::X25519, KeyExchange::P256]
            }
            // A share that the server does not accept would cost a round trip.
            Some(_) => vec![KeyExchange::P256],
        };
        TlsParameters {
            versions: self.tls.map_or(all.versions, |version| vec![version]),
            ciphers: self.cipher.map_or(all.ciphers, |cipher| vec![cipher]),
            key_exchanges: self.tls_settings.key_exchange.clone().unwrap_or(key_exchanges),
            chain: self.tls_settings.chain.clone(),
        }
    }

    /// The server's TLS parameters.
    pub fn server_tls(&self) -> TlsParameters {
        let mut tls = self.client_tls();
        if let Some(groups) = &self.tls_settings.server_key_exchange {
            tls.key_exchanges = groups.clone();
        }
        tls
    }
}

impl NetworkPlan {
    /// The largest packet that fits every link in both directions, in bytes, IP header included.
    pub fn mtu(&self) -> u32 {
        self.paths.iter().chain(&self.access).flat_map(|link| link.mtu).min().unwrap_or(u32::MAX)
    }

    /// The round-trip time without serialisation and queueing; `None` if the delay varies.
    pub fn round_trip_time(&self) -> Option<Duration> {
        let access = match &self.access {
            Some(access) => access.round_trip_delay?,
            None => Duration::ZERO,
        };
        self.link().round_trip_delay?.checked_add(access)
    }
}

impl Factor {
    /// The value as in result documents.
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
        f.debug_struct("Plan").field("name", &self.name).finish_non_exhaustive()
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
            .field("tls_settings", &self.tls_settings)
            .field("transport", &self.transport)
            .field("programs", &self.programs)
            .finish()
    }
}

/// Below this, a 64-bit float represents every whole number exactly.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_without_a_point() {
        assert_eq!(Factor::Number(50.0).to_json().to_string(), "50");
        assert_eq!(Factor::Number(0.003).to_json().to_string(), "0.003");
        assert_eq!(Factor::Text("1.3".to_owned()).to_json().to_string(), "\"1.3\"");
    }
}
