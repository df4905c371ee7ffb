//! Streaming: each phone plays media that comes in pieces of one second, in a resolution of its
//! choice, from a server's storage.
//!
//! This is the system of the study "Performance Analysis of QUIC Protocol for Web and Streaming
//! Services" (KIPS Transactions, 2021). Its components are files here: the server's `storage` and
//! `server` (the transmitter is the protocol below), the client's `receiver`, `player` and `rules`
//! of resolution; `session` is the client as a whole. The network environment manager is
//! `trackbed_environment`, whose timeline the session follows: jumps of the viewer, and forced
//! reconnections.
//!
//! The client asks for one piece after the other, each a request and a response. A jump leaves the
//! piece that is under way: where exchanges share a connection its sender is told to stop, where
//! they do not (`tcp`, `http1`) the next piece waits behind it. A forced reconnection drops the
//! connection and all that is under way, opens a new one at once, as the scenario's handshake says,
//! and asks again for the piece that is lacking.

mod player;
mod receiver;
mod resolution;
mod rules;
mod server;
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

use crate::contract::{Prepared, Site, Stage, Workload, WorkloadError};
use crate::warm_up::{self, WithWarmUp};
use player::{Buffering, PIECE};
use rules::Rule;
use server::MediaServer;
use storage::{Folder, Generated, PIECES_MAX, Storage};

/// The entry of the registry.
pub(crate) struct Streaming;

impl Workload for Streaming {
    fn name(&self) -> &'static str {
        "streaming"
    }

    fn summary(&self) -> &'static str {
        "phones play media in pieces of one second, in a resolution that suits the network"
    }

    fn parameters(&self) -> &'static [Parameter] {
        &PARAMETERS
    }

    fn follows_environment(&self) -> bool {
        true
    }

    fn prepare(
        &self,
        arguments: &Arguments,
        base: &Path,
    ) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Sessions(Arc::new(Plan::new(arguments, base)?))))
    }
}

/// What the runs of a cell share.
struct Plan {
    storage: Arc<Storage>,
    rule: &'static dyn Rule,
    buffering: Buffering,
    /// How long a session lasts.
    duration: Duration,
    /// Viewers jump while they wait, too.
    seeks_always: bool,
    phones: u32,
    timeout: Duration,
}

impl Plan {
    fn new(arguments: &Arguments, base: &Path) -> Result<Plan, WorkloadError> {
        let duration = positive(arguments, "duration", "60 s")?;
        let phones = u32::try_from(arguments.need::<u64>("phones")).ok();
        let phones = phones.filter(|phones| *phones <= PHONES_MAX);
        let rule: &str = arguments.need("rule");
        Ok(Plan {
            storage: Arc::new(storage(arguments, base)?),
            rule: rules::find(rule)
                .ok_or_else(|| WorkloadError::new("rule", "there is no such rule"))?,
            buffering: buffering(arguments, duration)?,
            duration,
            seeks_always: arguments.need::<&str>("seeks") == ALWAYS,
            phones: phones.ok_or_else(|| {
                WorkloadError::new("phones", format!("write at most {PHONES_MAX}"))
            })?,
            timeout: positive(arguments, "timeout", "60 s")?,
        })
    }
}

fn positive(
    arguments: &Arguments,
    name: &'static str,
    example: &str,
) -> Result<Duration, WorkloadError> {
    let span: Duration = arguments.need(name);
    match span.is_zero() {
        true => Err(WorkloadError::new(name, format!("no time at all; write \"{example}\""))),
        false => Ok(span),
    }
}

fn buffering(arguments: &Arguments, duration: Duration) -> Result<Buffering, WorkloadError> {
    let (startup, limit): (Duration, Duration) =
        (arguments.need("startup"), arguments.need("buffer"));
    if limit < PIECE {
        let advice = "a piece of one second must fit; write at least \"1 s\"";
        return Err(WorkloadError::new("buffer", advice));
    }
    if startup > limit {
        let advice = "the buffer never holds as much; write no more than for buffer";
        return Err(WorkloadError::new("startup", advice));
    }
    let ends: &str = arguments.need("ends");
    Ok(Buffering { startup, limit, session: (ends == PLAYED).then_some(duration) })
}

fn storage(arguments: &Arguments, base: &Path) -> Result<Storage, WorkloadError> {
    if let Some(folder) = arguments.get::<PathBuf>("media") {
        let folder = Folder::open(&base.join(folder));
        return folder.map(Storage::Folder).map_err(|why| WorkloadError::new("media", why));
    }
    let length: Duration = arguments.need("length");
    let length = u32::try_from(length.as_secs()).ok().filter(|pieces| *pieces <= PIECES_MAX);
    let Some(length @ 1..) = length else {
        return Err(WorkloadError::new("length", "write at least \"1 s\" and at most \"24 h\""));
    };
    let size: ByteSize = arguments.need("piece_size");
    if !PIECE_BYTES.contains(&size.as_bytes()) {
        let advice = "write at least \"1 kB\" and at most \"1 GB\"";
        return Err(WorkloadError::new("piece_size", advice));
    }
    let variation = arguments.need("variation");
    Ok(Storage::Generated(Generated { length, qhd_bytes: size.as_bytes(), variation }))
}

/// Sessions with everything resolved.
struct Sessions(Arc<Plan>);

impl Prepared for Sessions {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(MediaServer(Arc::clone(&self.0.storage))))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(session::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
        let mut files = vec![warm_up::site_file()];
        files.extend(self.0.storage.site_files());
        Ok(Site { files })
    }
}

static RULES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| rules::registry().iter().map(|rule| rule.name()).collect());

static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    parameters! {
        "duration": Time = "60 s" => "how long each session lasts";
        "ends": Choice(&[PLAYED, "elapsed"]) = PLAYED =>
            "when so much has been played, or when so much time has passed, waiting included";
        "rule": Choice(&RULES) = "paper" =>
            "how the resolution is chosen: paper (by the link's delay: QHD below 100 ms, FHD up \
             to 200 ms, HD above and straight after a connect or a seek), throughput (nine tenths \
             of what recent pieces came at) or bola (by the buffer: BOLA-BASIC)";
        "seeks": Choice(&[PLAYING, ALWAYS]) = PLAYING =>
            "when viewers follow the environment's seeks: while pictures move, or while they wait \
             too; then a piece that takes long is hardly ever waited for, and not counted";
        "startup": Time = "1 s" =>
            "how much media must be there before pictures move: at first, after a seek, after the \
             buffer has run empty";
        "buffer": Time = "10 s" => "how much media is kept at the most; at least 1 s";
        "piece_size": Size = "4.5 MB" =>
            "the mean size of a second of generated media in QHD; FHD is half of it, HD 5/16";
        "variation": Share = "10 %" =>
            "by how much the sizes of generated pieces deviate at the most";
        "length": Time = "10 min" =>
            "the length of generated media, up to 24 h; behind its end it begins anew";
        "media": Folder, optional =>
            "a folder of media in place of generated one: in it hd, fhd and qhd, in each a file \
             for every second, in the order of their names (hd/0000.m4s)";
        "phones": Count { min: 1 } = "1" =>
            "phones that play at once, each on a host of its own, up to 10000";
        "timeout": Time = "60 s" =>
            "a session that waits and to which no byte has come for this long is given up, and \
             the run has failed";
    }
    .to_vec()
});

const PLAYED: &str = "played";

/// When viewers seek.
const PLAYING: &str = "playing";
const ALWAYS: &str = "always";

const PIECE_BYTES: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;

const PHONES_MAX: u32 = 10_000;
