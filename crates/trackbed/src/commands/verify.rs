//! `trackbed verify`: how many signatures this machine verifies.

use std::num::{NonZeroU32, NonZeroUsize};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use trackbed_verifier::cache::{KeyCache, Policy, SharedKey};
use trackbed_verifier::engine::{monotonic_nanos, thread_cpu_nanos};
use trackbed_verifier::{Digest, Item, KeyTable, Path, PublicKey, Signature, Verdict, Verifier};

use crate::output;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed verify
  trackbed verify --workers 2 --batch 128 --seconds 10 --json
  trackbed verify --policy none --path portable

Signatures are ECDSA on P-256, of digests that are there already; one in twenty is forged. Before it
begins, keys get tables as the policy says. Processor time is per signature, of the worker alone.

Exit status: 0 all verdicts were right, 1 one was not, 2 bad input or something failed.";

/// What to verify, and how.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Keys that sign
    #[arg(long, value_name = "N", default_value = "320")]
    pub keys: NonZeroUsize,
    /// Signatures that are verified together
    #[arg(long, value_name = "N", default_value = "32")]
    pub batch: NonZeroUsize,
    /// Threads
    #[arg(long, value_name = "N", default_value = "1")]
    pub workers: NonZeroUsize,
    /// Instructions; the fastest that there are unless said otherwise
    #[arg(long, value_enum)]
    pub path: Option<PathName>,
    /// Which keys have a table
    #[arg(long, value_enum, default_value = "lru")]
    pub policy: PolicyName,
    /// Megabytes that tables may take (with `lru`)
    #[arg(long, value_name = "MB", default_value = "64")]
    pub memory: usize,
    /// How long
    #[arg(long, value_name = "N", default_value = "3")]
    pub seconds: NonZeroU32,
    /// Print a JSON document
    #[arg(long)]
    pub json: bool,
}

/// Names of paths.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PathName {
    /// For every processor
    Portable,
    /// AVX-512 IFMA, eight signatures at a time
    Ifma,
}

/// Names of policies.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PolicyName {
    /// No key has one
    None,
    /// Those used last
    Lru,
}

/// A signature, and whether it is as it was made.
struct Signed {
    key: SharedKey,
    digest: Digest,
    signature: Signature,
    is_forged: bool,
}

/// What a worker has done.
#[derive(Default)]
struct Account {
    verified: u64,
    wrong: u64,
    cpu_nanos: u64,
}

/// Signatures that take turns, one of each key at least.
const SIGNATURES: usize = 4_096;
/// One in so many is forged.
const FORGED: usize = 20;

/// Verifies for a while and says how fast it was.
///
/// # Errors
/// With what to do about it.
pub fn execute(arguments: &VerifyArguments) -> anyhow::Result<crate::ending::Ending> {
    let path = match arguments.path {
        Some(PathName::Portable) => Path::Portable,
        Some(PathName::Ifma) => Path::Ifma,
        None => Path::fastest(),
    };
    anyhow::ensure!(path.is_available(), "this processor has no AVX-512 IFMA: --path portable");
    anyhow::ensure!(arguments.keys.get() <= 10_000, "--keys is at most 10000");
    anyhow::ensure!(arguments.workers.get() <= 1_024, "--workers is at most 1024");
    let policy = match arguments.policy {
        PolicyName::None => Policy::None,
        PolicyName::Lru => {
            Policy::Lru { bytes: arguments.memory.saturating_mul(1_000_000), after: 1 }
        }
    };
    let mut cache = KeyCache::new(policy, path);
    let signed = sign(arguments.keys.get(), &mut cache)?;
    let begin = monotonic_nanos();
    let until = begin + u64::from(arguments.seconds.get()) * 1_000_000_000;
    let accounts: Option<Vec<Account>> = std::thread::scope(|scope| {
        let work = || work(&signed, path, arguments.batch.get(), until);
        let workers: Vec<_> = (0..arguments.workers.get()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().ok()).collect()
    });
    let accounts = accounts.context("a worker has panicked: this is a defect of Trackbed's")?;
    let seconds = (monotonic_nanos() - begin) as f64 / 1e9;
    let verified: u64 = accounts.iter().map(|account| account.verified).sum();
    let wrong: u64 = accounts.iter().map(|account| account.wrong).sum();
    let cpu: u64 = accounts.iter().map(|account| account.cpu_nanos).sum();
    anyhow::ensure!(verified > 0, "no worker has verified anything");
    let rate = verified as f64 / seconds;
    let micros = cpu as f64 / 1e3 / verified as f64;
    let tables = cache.len();
    let text = match arguments.json {
        true => serde_json::json!({
            "path": path.name(),
            "keys": arguments.keys,
            "tables": tables,
            "tables_bytes": tables * KeyTable::BYTES,
            "batch": arguments.batch,
            "workers": arguments.workers,
            "seconds": seconds,
            "verified": verified,
            "wrong": wrong,
            "rate_hz": rate,
            "cpu_us": micros,
        })
        .to_string(),
        false => format!(
            "path {}, {} keys, {tables} of them with tables, batches of {}, {} workers\n\
             {rate:.0} signatures a second, {micros:.2} us of processor time each",
            path.name(),
            arguments.keys,
            arguments.batch,
            arguments.workers,
        ),
    };
    output::print(&format!("{text}\n"))?;
    Ok(if wrong == 0 { crate::ending::Ending::Success } else { crate::ending::Ending::CheckFailed })
}

/// Verifies until the time is over.
fn work(signed: &[Signed], path: Path, batch: usize, until: u64) -> Account {
    let mut verifier = Verifier::with_path(path).unwrap_or_default();
    let items: Vec<Item<'_>> = signed
        .iter()
        .map(|signed| Item {
            key: signed.key.as_key(),
            digest: &signed.digest,
            signature: &signed.signature,
        })
        .collect();
    let (mut account, mut verdicts) = (Account::default(), Vec::new());
    let begin = thread_cpu_nanos();
    while monotonic_nanos() < until {
        for (items, signed) in items.chunks(batch).zip(signed.chunks(batch)) {
            verifier.verify(items, &mut verdicts);
            let is_wrong =
                |(verdict, signed): &(&Verdict, &Signed)| verdict.is_valid() == signed.is_forged;
            account.wrong += verdicts.iter().zip(signed).filter(is_wrong).count() as u64;
            account.verified += items.len() as u64;
        }
    }
    account.cpu_nanos = thread_cpu_nanos() - begin;
    account
}

/// Signs by each key in turn. Keys and digests are numbers: what they are makes no difference.
fn sign(keys: usize, cache: &mut KeyCache) -> anyhow::Result<Vec<Signed>> {
    let keys: Vec<SigningKey> = (1..=keys as u64)
        .map(|number| {
            let mut secret = [0x5a; 32];
            secret[24..].copy_from_slice(&number.to_be_bytes());
            SigningKey::from_slice(&secret).context("no key of P-256")
        })
        .collect::<anyhow::Result<_>>()?;
    let points: Vec<PublicKey> = keys
        .iter()
        .map(|key| {
            let point = key.verifying_key().to_sec1_point(false);
            Ok(PublicKey::from_sec1(point.as_bytes())?)
        })
        .collect::<anyhow::Result<_>>()?;
    for point in &points {
        cache.get(point);
    }
    // Who has lost its table to others goes without.
    let shared: Vec<SharedKey> = points.iter().map(|point| cache.look(point).0).collect();
    (0..SIGNATURES.max(keys.len()))
        .map(|number| {
            let key = number % keys.len();
            let mut digest = [0xa5; 32];
            digest[..8].copy_from_slice(
                &(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes(),
            );
            let made: p256::ecdsa::Signature = keys[key].sign_prehash(&digest)?;
            let (r, s) = made.split_bytes();
            let is_forged = number.is_multiple_of(FORGED);
            digest[31] ^= u8::from(is_forged);
            Ok(Signed {
                key: shared[key].clone(),
                digest: Digest(digest),
                signature: Signature { r: r.into(), s: s.into() },
                is_forged,
            })
        })
        .collect()
}
