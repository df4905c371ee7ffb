//! Streaming: each phone plays media in pieces of one second, in a resolution of its choice.
//!
//! This is the system of the study "Performance Analysis of QUIC Protocol for Web and Streaming
//! Services" (KIPS Transactions, 2021). Its components are files here: the server's `storage` and
//! `server` (the transmitter is the protocol below), the client's `receiver`, `player` and `rules`
//! of resolution; `session` is the client as a whole. The network environment manager is
//! [`environment`](crate::environment), whose timeline the session follows: jumps of the viewer,
//! and forced reconnections.
//!
//! The client requests one piece after the other. A jump abandons the piece in progress: if
//! exchanges share a connection its sender is told to stop, otherwise (`tcp`, `http1`) the next
//! piece waits behind it. A forced reconnection drops the connection and all that is in flight,
//! opens a new one immediately, with the scenario's handshake, and requests the missing piece
//! again.

mod player;
mod receiver;
mod rules;
mod session;
mod storage;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::units::ByteSize;
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::arguments::{at_most, ensure, limited, positive};
use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::{self, WithWarmUp};
use player::{Buffering, PIECE};
use rules::Rule;
use storage::{Folder, Generated, PIECES_MAX, Storage};

pub(crate) static ENTRY: Workload = Workload {
    name: "streaming",
    summary: "phones play media in pieces of one second, in a resolution that suits the network",
    parameters: || &PARAMETERS,
    communicates: true,
    follows_environment: true,
    ranking: &[("", &["loading_delay_ms", "media_bitrate_mbps", "rebuffering_ms"])],
    prepare: |arguments, base| Ok(Box::new(Arc::new(Plan::new(arguments, base)?))),
};

struct Plan {
    storage: Arc<Storage>,
    rule: &'static Rule,
    buffering: Buffering,
    duration: Duration,
    /// Whether viewers also jump while they wait.
    seeks_always: bool,
    phones: u32,
    timeout: Duration,
}

impl Plan {
    fn new(arguments: &Arguments, base: &Path) -> Result<Plan, WorkloadError> {
        let duration = positive(arguments, "duration", "60 s")?;
        let rule: &str = arguments.need("rule");
        Ok(Plan {
            storage: Arc::new(storage(arguments, base)?),
            rule: rules::find(rule).ok_or_else(|| WorkloadError::new("rule", "unknown rule"))?,
            buffering: buffering(arguments, duration)?,
            duration,
            seeks_always: arguments.need::<&str>("seeks") == ALWAYS,
            phones: at_most(arguments, "phones", PHONES_MAX)?,
            timeout: positive(arguments, "timeout", "60 s")?,
        })
    }
}

fn buffering(arguments: &Arguments, duration: Duration) -> Result<Buffering, WorkloadError> {
    let (startup, limit): (Duration, Duration) =
        (arguments.need("startup"), arguments.need("buffer"));
    let advice = "must hold a piece of one second; write at least \"1 s\"";
    ensure(limit >= PIECE, "buffer", advice)?;
    let advice = "the buffer never holds that much; write at most the value of `buffer`";
    ensure(startup <= limit, "startup", advice)?;
    let ends: &str = arguments.need("ends");
    Ok(Buffering { startup, limit, session: (ends == PLAYED).then_some(duration) })
}

fn storage(arguments: &Arguments, base: &Path) -> Result<Storage, WorkloadError> {
    if let Some(folder) = arguments.get::<PathBuf>("media") {
        let folder = Folder::open(&base.join(folder));
        return folder.map(Storage::Folder).map_err(|why| WorkloadError::new("media", why));
    }
    let length: Duration = arguments.need("length");
    let Some(length @ 1..) = limited(length.as_secs(), PIECES_MAX) else {
        return Err(WorkloadError::new("length", "write \"1 s\" to \"24 h\""));
    };
    let size: ByteSize = arguments.need("piece_size");
    let is_right = PIECE_BYTES.contains(&size.as_bytes());
    ensure(is_right, "piece_size", "write \"1 kB\" to \"1 GB\"")?;
    let variation = arguments.need("variation");
    Ok(Storage::Generated(Generated { length, qhd_bytes: size.as_bytes(), variation }))
}

impl Prepared for Arc<Plan> {
    fn phones(&self) -> u32 {
        self.phones
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(storage::service(Arc::clone(&self.storage))))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(session::drive(Arc::clone(self), stage))
    }

    fn site(&self) -> Result<Site, String> {
        let mut files = vec![warm_up::site_file()];
        files.extend(self.storage.site_files());
        Ok(Site { files })
    }
}

static RULES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| rules::RULES.iter().map(|rule| rule.name).collect());

static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    parameters! {
        "duration": Time = "60 s" => "duration of each session";
        "ends": Choice(&[PLAYED, "elapsed"]) = PLAYED =>
            "whether duration counts played time, or elapsed time including waits";
        "rule": Choice(&RULES) = "paper" =>
            "how the resolution is chosen: paper (by link delay: QHD below 100 ms, FHD up to 200 \
             ms, HD above and right after a connect or seek), throughput (nine tenths of that of \
             recent pieces) or bola (by buffer level: BOLA-BASIC)";
        "seeks": Choice(&[PLAYING, ALWAYS]) = PLAYING =>
            "when viewers follow the environment's seeks: while playing, or while waiting too, so \
             that slow pieces are often abandoned and not counted";
        "startup": Time = "1 s" =>
            "buffered media needed to start playing: at first, after a seek and after a \
             rebuffering";
        "buffer": Time = "10 s" => "maximum buffered media, at least 1 s";
        "piece_size": Size = "4.5 MB" =>
            "mean size of a second of generated media in QHD; FHD has half of it, HD 5/16";
        "variation": Share = "10 %" =>
            "maximum deviation of generated pieces from the mean size";
        "length": Time = "10 min" =>
            "length of generated media, up to 24 h; it repeats after its end";
        "media": Folder, optional =>
            "folder of media instead of generated ones, with subfolders hd, fhd and qhd that each \
             have a file per second, in the order of their names (hd/0000.m4s)";
        "phones": Count { min: 1 } = "1" =>
            "phones that play at the same time, each on a separate host, up to 10000";
        "timeout": Time = "60 s" =>
            "a session that waits without receiving a byte for this long is given up, and the run \
             fails";
    }
    .to_vec()
});

const PLAYED: &str = "played";

const PLAYING: &str = "playing";
const ALWAYS: &str = "always";

const PIECE_BYTES: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;

const PHONES_MAX: u32 = 10_000;
