//! The front: batches in, verdicts out.

use crate::curve::{Affine, Table};
#[cfg(target_arch = "x86_64")]
use crate::ifma::{self, Ifma};
use crate::job::{self, Outcome, Scalars};
use crate::{Digest, KeyTable, Path, PublicKey, Signature, Verdict, portable};

/// A key, with or without a table.
#[derive(Debug, Clone, Copy)]
pub enum Key<'a> {
    /// By itself.
    Plain(&'a PublicKey),
    /// With a precomputed table.
    Table(&'a KeyTable),
}

/// An item to verify.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The signer's key.
    pub key: Key<'a>,
    /// The signed digest.
    pub digest: &'a Digest,
    /// The signature.
    pub signature: &'a Signature,
}

/// Verifies batches on one thread, and keeps its working memory (below 4 MB).
pub struct Verifier {
    path: Path,
    scalars: Vec<Option<Scalars>>,
    outcomes: Vec<Outcome>,
    portable: portable::Scratch,
    #[cfg(target_arch = "x86_64")]
    ifma: Option<(Ifma, ifma::Scratch)>,
}

/// Larger groups would not fit the second-level cache, and gain little from sharing an inversion.
const CHUNK: usize = 64;

impl Verifier {
    /// A verifier with the fastest path of this processor.
    #[must_use]
    pub fn new() -> Self {
        Self::with_path(Path::fastest()).unwrap_or_else(|| Self::of(Path::Portable))
    }

    /// A verifier with `path`; none if this processor does not support it.
    #[must_use]
    pub fn with_path(path: Path) -> Option<Self> {
        path.is_available().then(|| Self::of(path))
    }

    /// Replaces the contents of `verdicts` with the verdicts of `items`, in their order.
    ///
    /// Any number of items is allowed. Items of one call share work: most of the gain is reached at
    /// 32 items, all of it at 128.
    pub fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        verdicts.clear();
        for chunk in items.chunks(CHUNK) {
            self.verify_chunk(chunk, verdicts);
        }
    }

    /// The verdict of one item.
    pub fn verify_one(&mut self, item: Item<'_>) -> Verdict {
        let mut verdicts = Vec::with_capacity(1);
        self.verify(&[item], &mut verdicts);
        verdicts.first().copied().unwrap_or(Verdict::Mismatch)
    }

    fn of(path: Path) -> Self {
        Self {
            path,
            scalars: Vec::new(),
            outcomes: Vec::new(),
            portable: portable::Scratch::default(),
            #[cfg(target_arch = "x86_64")]
            ifma: Ifma::detect()
                .filter(|_| path == Path::Ifma)
                .map(|ifma| (ifma, ifma::Scratch::default())),
        }
    }

    fn verify_chunk(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        let start = verdicts.len();
        verdicts.resize(start + items.len(), Verdict::OutOfRange);
        let verdicts = &mut verdicts[start..];
        job::scalars(items.iter().map(|item| (item.digest, item.signature)), &mut self.scalars);

        let mut tables: Jobs<'_, Table> = Jobs::default();
        let mut plain: Jobs<'_, Affine> = Jobs::default();
        for (place, (item, scalars)) in items.iter().zip(&self.scalars).enumerate() {
            let Some(scalars) = scalars else { continue };
            match item.key.table_for(self.path) {
                Some(table) => tables.push(place, scalars, table),
                None => plain.push(place, scalars, item.key.point()),
            }
        }
        self.verify_with_tables(&tables.jobs);
        self.decide(items, &tables, verdicts);
        self.verify_plain(&plain.jobs);
        self.decide(items, &plain, verdicts);
    }

    fn verify_with_tables(&mut self, jobs: &[(Scalars, &Table)]) {
        #[cfg(target_arch = "x86_64")]
        if let Some((ifma, scratch)) = &mut self.ifma {
            ifma.verify_with_tables(jobs, scratch, &mut self.outcomes);
            return;
        }
        portable::verify_with_tables(jobs, &mut self.portable, &mut self.outcomes);
    }

    fn verify_plain(&mut self, jobs: &[(Scalars, &Affine)]) {
        #[cfg(target_arch = "x86_64")]
        if let Some((ifma, scratch)) = &mut self.ifma
            && jobs.len() >= ifma::PLAIN_WORTHWHILE
        {
            ifma.verify_plain(jobs, scratch, &mut self.outcomes);
            return;
        }
        self.outcomes.clear();
        self.outcomes.resize(jobs.len(), Outcome::Undecided);
    }

    /// Turns the outcomes of `jobs` into verdicts, and decides the undecided ones.
    fn decide<T>(&self, items: &[Item<'_>], jobs: &Jobs<'_, T>, verdicts: &mut [Verdict]) {
        for ((place, outcome), (scalars, _)) in
            jobs.places.iter().zip(&self.outcomes).zip(&jobs.jobs)
        {
            let is_valid = match outcome {
                Outcome::Valid => true,
                Outcome::Mismatch => false,
                Outcome::Undecided => portable::verify(scalars, items[*place].key.point()),
            };
            verdicts[*place] = if is_valid { Verdict::Valid } else { Verdict::Mismatch };
        }
    }
}

impl Default for Verifier {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Key<'a> {
    fn point(self) -> &'a Affine {
        match self {
            Self::Plain(key) => key.point(),
            Self::Table(table) => table.key().point(),
        }
    }

    fn table_for(self, path: Path) -> Option<&'a Table> {
        match self {
            Self::Table(table) if table.path() == path => Some(table.table()),
            _ => None,
        }
    }
}

/// Jobs of one kind, and where in the batch they come from.
struct Jobs<'a, T> {
    places: Vec<usize>,
    jobs: Vec<(Scalars, &'a T)>,
}

impl<'a, T> Jobs<'a, T> {
    fn push(&mut self, place: usize, scalars: &Scalars, with: &'a T) {
        self.places.push(place);
        self.jobs.push((*scalars, with));
    }
}

impl<T> Default for Jobs<'_, T> {
    fn default() -> Self {
        Self { places: Vec::new(), jobs: Vec::new() }
    }
}
