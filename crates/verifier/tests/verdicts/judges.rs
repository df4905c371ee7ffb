//! The same cases for all verifiers: the other libraries, and each of our paths in each way.

use p256::ecdsa::VerifyingKey;
use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use trackbed_verifier::others::OpenSsl;
use trackbed_verifier::{
    Digest, Item, Key, KeyTable, Path, PublicKey, Signature, Verifier, VerifierBackend,
};

use crate::gpu;

pub struct Signer {
    pub key: PublicKey,
    tables: Vec<KeyTable>,
}

#[derive(Clone, Copy)]
pub struct Case {
    pub signer: usize,
    pub digest: Digest,
    pub signature: Signature,
}

impl Signer {
    pub fn new(key: PublicKey) -> Self {
        Self { key, tables: Path::ALL.map(|path| KeyTable::new(&key, path)).into() }
    }
}

/// The system's OpenSSL; none, loudly, if there is none.
pub fn openssl() -> Option<OpenSsl> {
    let opened = OpenSsl::open();
    if let Err(why) = &opened {
        assert!(std::env::var_os("CI").is_none(), "{why}: install libssl3");
        eprintln!("skipped: {why} (Debian package libssl3)");
    }
    opened.ok()
}

/// The verdicts of p256 on each case, and of OpenSSL if it exists.
pub fn others(signers: &[Signer], cases: &[Case]) -> Vec<bool> {
    let keys = signers.iter().map(|signer| signer.key.to_sec1());
    let keys: Vec<[u8; 65]> = keys.collect();
    let parse = |key: &[u8; 65]| VerifyingKey::from_sec1_bytes(key).expect("it is a key");
    let others: Vec<VerifyingKey> = keys.iter().map(parse).collect();
    let judge = |case: &Case| {
        let Signature { r, s } = case.signature;
        p256::ecdsa::Signature::from_scalars(r, s).is_ok_and(|signature| {
            others[case.signer].verify_prehash(&case.digest.0, &signature).is_ok()
        })
    };
    let verdicts: Vec<bool> = cases.iter().map(judge).collect();
    for (place, answer) in by_openssl(signers, cases).into_iter().flatten().enumerate() {
        assert_eq!(answer, verdicts[place], "OpenSSL and p256 differ on case {place}");
    }
    verdicts
}

/// The verdicts of OpenSSL, if it exists: in a third of the time of p256.
pub fn by_openssl(signers: &[Signer], cases: &[Case]) -> Option<Vec<bool>> {
    let openssl = openssl()?;
    let keys = signers.iter().map(|signer| signer.key.to_sec1());
    let keys: Vec<[u8; 65]> = keys.collect();
    let parsed: Vec<_> = keys.iter().map(|key| openssl.key(key).expect("it is a key")).collect();
    let contexts: Vec<_> = parsed.iter().map(|key| key.context().expect("memory")).collect();
    let judge = |case: &Case| contexts[case.signer].verify(&case.digest, &case.signature.to_der());
    Some(cases.iter().map(judge).collect())
}

/// The same cases, by signers.
#[derive(Clone, Copy)]
pub struct Judged<'a> {
    pub signers: &'a [Signer],
    pub cases: &'a [Case],
    pub expected: &'a [bool],
}

/// Asserts that every path, with and without tables, in batches of each of `sizes`, gives
/// `expected`.
pub fn assert_ours(signers: &[Signer], cases: &[Case], expected: &[bool], sizes: &[usize]) {
    let judged = Judged { signers, cases, expected };
    let wanted = std::env::var("TRACKBED_PATHS").ok();
    let wanted = |path: &Path| wanted.as_ref().is_none_or(|names| names.contains(path.name()));
    for path in [Path::Portable, Path::Ifma, Path::Neon].into_iter().filter(wanted) {
        let Ok(verifier) = Verifier::with_path(path) else {
            eprintln!("skipped: this processor has no path {}", path.name());
            continue;
        };
        let mut backend = verifier.into_backend();
        (0..3).for_each(|way| judged.assert_backend(&mut *backend, (path, way), sizes));
    }
    // The kernels are slow on a processor: the mixed way alone.
    if let Some(mut gpu) = gpu::shared() {
        judged.assert_backend(&mut gpu, (Path::Gpu, 2), sizes);
    }
}

impl Judged<'_> {
    /// Asserts it of one backend: with tables (way 0), without (1), or mixed.
    pub fn assert_backend(
        &self,
        backend: &mut dyn VerifierBackend,
        (path, way): (Path, usize),
        sizes: &[usize],
    ) {
        let key = |place: usize, case: &Case| {
            let signer = &self.signers[case.signer];
            // Mixed: every third key has no table, another a foreign one.
            let table = match (way, place % 3) {
                (0, _) | (2, 0) => signer.tables.iter().find(|table| table.path() == path),
                (2, 1) => signer.tables.iter().find(|table| table.path() != path),
                _ => None,
            };
            table.map_or(Key::Plain(&signer.key), Key::Table)
        };
        let numbered = self.cases.iter().enumerate();
        let items: Vec<Item<'_>> = numbered
            .map(|(place, case)| {
                let key = key(place, case);
                Item { key, digest: &case.digest, signature: &case.signature }
            })
            .collect();
        let mut verdicts = Vec::new();
        for size in sizes {
            for (number, batch) in items.chunks(*size).enumerate() {
                backend.verify(batch, &mut verdicts);
                assert_eq!(verdicts.len(), batch.len());
                for (place, verdict) in verdicts.iter().enumerate() {
                    let case = number * size + place;
                    assert_eq!(
                        verdict.is_valid(),
                        self.expected[case],
                        "path {}, way {way}, batches of {size}, case {case}: {verdict:?}",
                        path.name()
                    );
                }
            }
        }
    }
}
