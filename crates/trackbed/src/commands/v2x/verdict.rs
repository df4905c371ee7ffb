//! The verdict on each message: that of a receiver that trusts some roots.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use trackbed_outward::files;
use trackbed_v2x::certificate::ParsedCertificate;
use trackbed_v2x::check::Policy;
use trackbed_v2x::{Certificate, ItsTime, Receiver, Refusal, SignedMessage};
use trackbed_verifier::cache;
use trackbed_verifier::engine::thread_cpu_nanos;
use trackbed_workloads::OnThisThread;

use super::unhex;
use crate::ending::Ending;
use crate::output::tell;

pub struct Judge {
    receiver: Receiver,
    verifier: OnThisThread,
    /// Messages by their verdict.
    counts: BTreeMap<&'static str, u64>,
}

const TABLES: cache::Policy = cache::Policy::Lru { bytes: 64_000_000, after: 3 };

impl Judge {
    /// A receiver that trusts the roots in `file`, and the authorities below them.
    ///
    /// # Errors
    /// If the file does not contain certificates, or not those of roots, or if they do not fit together.
    pub fn new(file: &Path) -> anyhow::Result<Judge> {
        let name = || format!("--roots {}", file.display());
        let bytes = files::read_bounded(file, ROOTS_BYTES_MAX).with_context(name)?;
        let (roots, authorities): (Vec<_>, Vec<_>) = certificates(&unhex(&bytes))
            .with_context(name)?
            .into_iter()
            .partition(|one| one.self_signed_job().is_some());
        ensure!(!roots.is_empty(), "{}: no root is among its certificates; add one", name());
        // The receiver is nowhere in particular.
        let policy = Policy {
            countries: (0..1_000).chain([u16::MAX]).collect(),
            tickets: 65_536,
            ..Policy::default()
        };
        let mut verifier = OnThisThread::new(TABLES);
        let mut receiver = Receiver::new(policy, &roots, &mut verifier).with_context(name)?;
        for authority in authorities {
            receiver.add_authority(authority, &mut verifier).with_context(name)?;
        }
        Ok(Judge { receiver, verifier, counts: BTreeMap::new() })
    }

    /// Adds the verdict on a message, received `at` this Unix time, to what is shown of it.
    pub fn judge(&mut self, message: &[u8], at: Option<Duration>, shown: &mut Value) {
        let signed = || SignedMessage::decode(message).ok()?.generation_time();
        let now = at.map(ItsTime::from_unix).or_else(signed).unwrap_or_default();
        let started = thread_cpu_nanos();
        let decision = self.receiver.accept(message, now, &mut self.verifier);
        let nanos = thread_cpu_nanos().saturating_sub(started);
        let verdict = match &decision {
            Ok(_) => "valid",
            Err(
                Refusal::UnknownSigner(_)
                | Refusal::Psid(_)
                | Refusal::Unsupported(_)
                | Refusal::NoPosition
                | Refusal::HashAlgorithm
                | Refusal::KeyCurve(_)
                | Refusal::SignatureCurve { .. },
            ) => "unknown",
            Err(_) => "invalid",
        };
        *self.counts.entry(verdict).or_default() += 1;
        shown["verdict"] = verdict.into();
        if let Err(why) = &decision {
            shown["reason"] = why.to_string().into();
        }
        shown["cpu_us"] = (nanos as f64 / 1e3).into();
    }

    /// Tells how many messages have which verdict.
    pub fn end(&self) -> Ending {
        let of = |verdict| self.counts.get(verdict).copied().unwrap_or(0);
        let [valid, invalid, unknown] = ["valid", "invalid", "unknown"].map(of);
        tell(format_args!("{valid} valid, {invalid} invalid, {unknown} unknown"));
        if invalid > 0 { Ending::CheckFailed } else { Ending::Success }
    }
}

/// Certificates that stand one after the other.
fn certificates(mut bytes: &[u8]) -> anyhow::Result<Vec<Arc<Certificate>>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let name = || format!("certificate {} in it", found.len() + 1);
        let (parsed, rest) = ParsedCertificate::take(bytes).with_context(name)?;
        let certificate = Certificate::new(&parsed).with_context(name)?;
        found.push(Arc::new(certificate));
        bytes = rest;
    }
    Ok(found)
}

const ROOTS_BYTES_MAX: u64 = 1 << 20;
