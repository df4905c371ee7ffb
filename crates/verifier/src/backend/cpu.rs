//! The backends on the calling thread: they share how items become sums of points and outcomes
//! verdicts, and differ in [`Lanes`].

use crate::curve::{Affine, Table};
use crate::item::Key;
use crate::job::{self, Lanes, Outcome, Scalars};
use crate::{Item, Path, Verdict, portable};

use super::VerifierBackend;

/// A backend by instructions of the processor, and its working memory (below 4 MB).
pub(super) struct Cpu<L> {
    path: Path,
    lanes: L,
    scalars: Vec<Option<Scalars>>,
    outcomes: Vec<Outcome>,
}

/// Larger groups would not fit the second-level cache, and gain little from sharing an inversion.
const CHUNK: usize = 64;

impl<L: Lanes> Cpu<L> {
    pub(super) fn new(path: Path, lanes: L) -> Self {
        Self { path, lanes, scalars: Vec::new(), outcomes: Vec::new() }
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
                Some(table) => tables.push(place, scalars, table.table()),
                None => plain.push(place, scalars, item.key.point()),
            }
        }
        self.lanes.verify_with_tables(&tables.jobs, &mut self.outcomes);
        self.decide(items, &tables, verdicts);
        self.lanes.verify_plain(&plain.jobs, &mut self.outcomes);
        self.decide(items, &plain, verdicts);
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

impl<L: Lanes> VerifierBackend for Cpu<L> {
    fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        verdicts.clear();
        for chunk in items.chunks(CHUNK) {
            self.verify_chunk(chunk, verdicts);
        }
    }

    /// Two chunks; half of one has most of the gain.
    fn preferred_batch(&self) -> usize {
        128
    }
}

impl Key<'_> {
    fn point(&self) -> &Affine {
        self.public().point()
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
