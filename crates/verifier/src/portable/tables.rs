//! A batch of signatures by keys with tables: sums of points, added pairwise.

use crate::arithmetic::{FieldElement, invert_all, is_zero};
use crate::curve::{Affine, AffineSum, Form, Jacobian, Table, finish_all, generator};
use crate::job::{Outcome, Scalars};
use crate::places::{self, Place};

/// Memory reused for each batch.
#[derive(Default)]
pub(super) struct Scratch {
    places: Vec<Place>,
    /// The points of each signature, side by side.
    points: Vec<Affine>,
    sums: Vec<AffineSum>,
    inverses: Vec<FieldElement>,
    /// Which signatures met equal or opposite points, or have a scalar without digits.
    failed: Vec<bool>,
}

/// The minimum number of additions for which a level with a shared inversion pays: each saves five
/// multiplications, and an inversion takes a hundred.
const WORTHWHILE: usize = 20;

/// Verifies all signatures by keys with tables in [`Form::Portable`] and the same windows.
pub(super) fn verify(
    jobs: &[(Scalars, &Table)],
    scratch: &mut Scratch,
    outcomes: &mut Vec<Outcome>,
) {
    outcomes.clear();
    let Some((_, first)) = jobs.first() else { return };
    let base = generator(Form::Portable);
    let width = base.windows.count() + first.windows.count();
    scratch.points.clear();
    scratch.failed.clear();
    places::find(jobs, base, &mut scratch.places);
    for ((scalars, table), places) in jobs.iter().zip(scratch.places.chunks_exact(width)) {
        scratch.failed.push(is_zero(&scalars.u1));
        let (of_base, of_key) = places.split_at(base.windows.count());
        scratch.points.extend(of_base.iter().map(|place| place.of(base)));
        scratch.points.extend(of_key.iter().map(|place| place.of(table)));
    }
    let mut height = width;
    while height > 1 && height / 2 * jobs.len() >= WORTHWHILE {
        height = scratch.add_pairs(width, height);
    }
    outcomes.extend(jobs.iter().enumerate().map(|(job, (scalars, _))| {
        let points = &scratch.points[job * width..][..height];
        finish(scalars, points, scratch.failed[job])
    }));
}

impl Scratch {
    /// Adds the first `height` of each signature's `width` points pairwise; returns how many are left.
    fn add_pairs(&mut self, width: usize, height: usize) -> usize {
        self.sums.clear();
        self.inverses.clear();
        for (points, failed) in self.points.chunks_exact(width).zip(&mut self.failed) {
            for pair in points[..height].as_chunks::<2>().0 {
                let sum = pair[0].plus(&pair[1]);
                *failed |= sum.denominator.is_zero();
                let denominator = if *failed { FieldElement::ONE } else { sum.denominator };
                self.inverses.push(denominator);
                self.sums.push(sum);
            }
        }
        invert_all(&mut self.inverses);
        let pairs = height / 2;
        let mut results = finish_all(&self.sums, &self.inverses);
        for points in self.points.chunks_exact_mut(width) {
            for (point, sum) in points.iter_mut().zip(results.by_ref().take(pairs)) {
                *point = sum;
            }
            if height % 2 == 1 {
                points[pairs] = points[height - 1];
            }
        }
        pairs + height % 2
    }
}

/// Adds the last points without divisions, and compares.
fn finish(scalars: &Scalars, points: &[Affine], failed: bool) -> Outcome {
    let [first, rest @ ..] = points else { return Outcome::Undecided };
    let start = Jacobian::from_affine(first);
    let sum = rest.iter().fold(start, |sum, point| sum.add_different(point));
    if failed || sum.is_infinity() {
        return Outcome::Undecided;
    }
    Outcome::new(scalars.accept(&sum))
}
