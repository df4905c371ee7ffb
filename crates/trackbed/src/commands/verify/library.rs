//! The libraries that can be measured.

use std::ffi::OsStr;
use std::ops::Range;

use anyhow::Context as _;
use clap::ValueEnum;
use trackbed_verifier::cache::{KeyCache, Policy, SharedKey};
use trackbed_verifier::engine::thread_cpu_nanos;
#[cfg(feature = "aws-lc")]
use trackbed_verifier::others::AwsLcKey;
use trackbed_verifier::others::{OpenSsl, OpenSslKey};
use trackbed_verifier::{Item, KeyTable, Path, Verifier};

use super::signed::{Signed, Workload};
use crate::output::tell;

/// Libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LibraryName {
    /// Trackbed's verifier with precomputed tables, as for known keys
    Trackbed,
    /// Trackbed's verifier without tables, as for new keys
    TrackbedNewKeys,
    /// The system's OpenSSL, 1.1.0 or newer; keys are parsed once
    Openssl,
    /// AWS-LC, if this program was built with it; keys are parsed once
    AwsLc,
}

/// A library that is ready to verify.
pub struct Library {
    /// Its name in results.
    pub title: String,
    /// Its version, or the instruction set that it uses.
    pub version: String,
    /// Signatures that a thread takes at once.
    pub batch: usize,
    /// The processor time to make a table of a key, in microseconds, if it makes any.
    pub table_us: Option<f64>,
    kind: Kind,
}

enum Kind {
    Trackbed(Path, Vec<SharedKey>),
    OpenSsl(Vec<OpenSslKey>),
    #[cfg(feature = "aws-lc")]
    AwsLc(Vec<AwsLcKey>),
}

/// Verifies a range of the signatures, which repeat, and counts wrong verdicts.
pub type Worker<'a> = Box<dyn FnMut(Range<usize>) -> usize + 'a>;

impl LibraryName {
    /// The name on the command line.
    pub fn text(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl Library {
    /// Whether a GPU does the work.
    pub fn is_on_gpu(&self) -> bool {
        matches!(self.kind, Kind::Trackbed(Path::Gpu, _))
    }

    /// Whether a batch costs less than its signatures one by one, and its size is not a GPU's.
    pub fn has_batches(&self) -> bool {
        matches!(&self.kind, Kind::Trackbed(path, _) if *path != Path::Gpu)
    }

    /// Trackbed's verifier, with tables for keys according to the policy.
    pub fn trackbed(name: LibraryName, path: Path, policy: Policy, workload: &Workload) -> Library {
        let mut cache = KeyCache::new(policy, path);
        for key in &workload.keys {
            cache.get(key);
        }
        let sample = &workload.keys[..workload.keys.len().min(TABLES_TIMED)];
        let started = thread_cpu_nanos();
        sample.iter().for_each(|key| drop(KeyTable::new(key, path)));
        let nanos = (thread_cpu_nanos() - started) as f64;
        // A key whose table was evicted is verified without it.
        let keys: Vec<SharedKey> = workload.keys.iter().map(|key| cache.look(key).0).collect();
        let version = format!(
            "backend {}, {} of {} keys with tables",
            path.name(),
            cache.tables(),
            keys.len()
        );
        let table_us = (cache.tables() > 0).then(|| nanos / 1e3 / sample.len().max(1) as f64);
        let kind = Kind::Trackbed(path, keys);
        Library { title: name.text(), version, batch: BATCH, table_us, kind }
    }

    fn plain(name: LibraryName, version: String, kind: Kind) -> Library {
        Library { title: name.text(), version, batch: BATCH, table_us: None, kind }
    }

    /// The OpenSSL in `file`, or the system's.
    ///
    /// # Errors
    /// If it cannot be loaded, or rejects a key.
    pub fn openssl(file: Option<&OsStr>, workload: &Workload) -> anyhow::Result<Library> {
        let openssl = match file {
            Some(file) => OpenSsl::open_file(file)
                .with_context(|| format!("--openssl {}: cannot load this libcrypto", file.display()))?,
            None => OpenSsl::open().context(
                "cannot load OpenSSL; install it (Debian: libssl3), give its libcrypto with --openssl \
                 FILE, or remove openssl from --library",
            )?,
        };
        let keys = workload.keys.iter().map(|key| openssl.key(&key.to_sec1()));
        let keys = keys.collect::<Option<_>>().context("OpenSSL rejected a key")?;
        let version = openssl.version().to_owned();
        Ok(Library::plain(LibraryName::Openssl, version, Kind::OpenSsl(keys)))
    }

    /// AWS-LC.
    #[cfg(feature = "aws-lc")]
    pub fn aws_lc(workload: &Workload) -> anyhow::Result<Library> {
        let keys = workload.keys.iter().map(|key| AwsLcKey::new(&key.to_sec1()));
        let keys = keys.collect::<Option<_>>().context("AWS-LC rejected a key")?;
        let version = "by aws-lc-rs".to_owned();
        Ok(Library::plain(LibraryName::AwsLc, version, Kind::AwsLc(keys)))
    }

    /// AWS-LC.
    ///
    /// # Errors
    /// Always: this program was built without it.
    #[cfg(not(feature = "aws-lc"))]
    pub fn aws_lc(_: &Workload) -> anyhow::Result<Library> {
        anyhow::bail!(
            "--library aws-lc: this trackbed was built without AWS-LC; build it with `cargo build \
             --release --features aws-lc`"
        )
    }

    /// The worker of one thread, for at most `batch` signatures at a time.
    ///
    /// # Errors
    /// If the library runs out of memory.
    pub fn worker<'a>(
        &'a self,
        workload: &'a Workload,
        batch: usize,
    ) -> anyhow::Result<Worker<'a>> {
        match &self.kind {
            Kind::Trackbed(path, keys) => {
                let verifier =
                    Verifier::with_path(*path).context("--backend: a thread has none")?;
                Ok(by_batch(verifier, keys, &workload.signed, batch))
            }
            Kind::OpenSsl(keys) => {
                let contexts = keys.iter().map(OpenSslKey::context).collect::<Option<Vec<_>>>();
                let contexts = contexts.context("OpenSSL cannot allocate its contexts")?;
                let verify = move |it: &Signed| contexts[it.key].verify(&it.digest, &it.der);
                Ok(one_by_one(&workload.signed, verify))
            }
            #[cfg(feature = "aws-lc")]
            Kind::AwsLc(keys) => {
                let verify = |it: &Signed| keys[it.key].verify(&it.digest, &it.signature);
                Ok(one_by_one(&workload.signed, verify))
            }
        }
    }
}

/// Signatures that a thread of the CPU takes at once.
pub const BATCH: usize = 32;
/// Tables whose time is measured.
const TABLES_TIMED: usize = 16;

fn by_batch<'a>(
    mut verifier: Verifier,
    keys: &'a [SharedKey],
    signed: &'a [Signed],
    batch: usize,
) -> Worker<'a> {
    let item = |signed: &'a Signed| Item {
        key: keys[signed.key].as_key(),
        digest: &signed.digest,
        signature: &signed.signature,
    };
    // The first signatures are repeated at the end, so that a batch may begin anywhere.
    let repeated = || signed.iter().cycle().take(signed.len() + batch);
    let items: Vec<Item<'_>> = repeated().map(item).collect();
    let is_forged: Vec<bool> = repeated().map(|signed| signed.is_forged).collect();
    let (mut verdicts, mut has_failed) = (Vec::new(), false);
    Box::new(move |range| {
        let start = range.start % signed.len();
        let range = start..start + range.len();
        verifier.verify(&items[range.clone()], &mut verdicts);
        if let Some(why) = verifier.failure().filter(|_| !std::mem::replace(&mut has_failed, true))
        {
            tell(format!(
                "note: {why}; the CPU verifies the rest, so the figures are not the GPU's"
            ));
        }
        let judged = verdicts.iter().zip(&is_forged[range]);
        judged.filter(|(verdict, is_forged)| verdict.is_valid() == **is_forged).count()
    })
}

fn one_by_one<'a>(signed: &'a [Signed], verify: impl Fn(&Signed) -> bool + 'a) -> Worker<'a> {
    Box::new(move |range| {
        range
            .map(|number| &signed[number % signed.len()])
            .filter(|it| verify(it) == it.is_forged)
            .count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One in twenty of the signatures is forged, and each library detects them. A signature with the wrong
    /// expectation gives one wrong verdict in each round.
    #[test]
    fn every_wrong_verdict_is_counted() {
        let mut workload = Workload::new(3).unwrap();
        let libraries = |workload: &Workload| {
            let ours = [Path::Portable, Path::fastest()].map(|path| {
                [Policy::None, Policy::Lru { bytes: 1_000_000, after: 1 }]
                    .map(|policy| Library::trackbed(LibraryName::Trackbed, path, policy, workload))
            });
            let others =
                [Library::openssl(None, workload), Library::aws_lc(workload)].into_iter().flatten();
            ours.into_iter().flatten().chain(others).collect::<Vec<_>>()
        };
        let count = workload.signed.len();
        for expected in [0, 1] {
            for library in libraries(&workload) {
                let mut worker = library.worker(&workload, 128).unwrap();
                let batches = (0..2 * count).step_by(100).map(|start| start..start + 100);
                let batches = batches.take_while(|batch| batch.end <= 2 * count);
                let wrong: usize = batches.map(&mut worker).sum();
                assert_eq!(wrong, 2 * expected, "{}", library.version);
            }
            // Far from the end, where the batch is incomplete.
            workload.signed[21].is_forged = true;
        }
    }
}
