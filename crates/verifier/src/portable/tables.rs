//! A batch of signatures by keys with tables: sums of points, added pairwise.

use crate::arithmetic::{FieldElement, invert_all, is_zero};
use crate::curve::{Affine, AffineSum, Form, Jacobian, Table, generator};
use crate::job::{Outcome, Scalars};

/// Memory that is used again for each batch.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The points of each signature, side by side.
    points: Vec<Affine>,
    sums: Vec<AffineSum>,
    inverses: Vec<FieldElement>,
    /// Which signatures met equal or opposite points.
    failed: Vec<bool>,
}

/// A level of additions that shares one inversion pays from about so many additions on: each saves
/// five multiplications, and an inversion takes a hundred.
const WORTHWHILE: usize = 20;

/// Verifies all signatures by keys with tables in [`Form::Portable`] and the same windows.
pub(crate) fn verify_with_tables(
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
    for (scalars, table) in jobs {
        // A product with zero has no digits.
        scratch.failed.push(is_zero(&scalars.u1));
        for (table, scalar) in [(base, &scalars.u1), (*table, &scalars.u2)] {
            let digits = table.windows.digits(scalar).enumerate();
            scratch.points.extend(digits.map(|(window, digit)| table.point(window, digit)));
        }
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
        let results =
            self.sums.iter().zip(&self.inverses).map(|(sum, inverse)| sum.finish(inverse));
        let mut results = results;
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
