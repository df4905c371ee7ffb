//! A batch of signatures by keys with tables: sums of points in eight lanes, added pairwise.

use crate::arithmetic::is_zero;
use crate::curve::{Entry, Form, Jacobian, Table, generator};
use crate::job::{Outcome, Scalars};
use crate::places::{self, Place};

use super::inverses::Chains;
use super::points::{JacobianPoints, Points};
use super::{Mask, Vector};

pub(crate) struct Scratch<V> {
    places: Vec<Place>,
    /// The points of each vector of lanes, side by side.
    points: Vec<Points<V>>,
    /// Products of denominators, for each pair of those behind it.
    products: Vec<V>,
    /// Which lanes of each vector met equal or opposite points, or have no digits.
    failed: Vec<Mask>,
}

/// How a batch lies in lanes.
#[derive(Clone, Copy)]
struct Layout {
    jobs: usize,
    /// Lanes that a signature takes: a small batch fills them by parts of its sums.
    parts: usize,
    /// Points of a signature.
    width: usize,
    /// Points of a lane, at most.
    slots: usize,
    vectors: usize,
}

/// The minimum number of vector additions for which a level with a shared inversion pays.
const WORTHWHILE: usize = 18;

/// Verifies all signatures by keys with tables in [`Form::Vector`] and the same windows.
#[inline(always)]
pub(crate) fn verify<V: Vector>(
    jobs: &[(Scalars, &Table)],
    scratch: &mut Scratch<V>,
    outcomes: &mut Vec<Outcome>,
) {
    outcomes.clear();
    let Some((_, first)) = jobs.first() else { return };
    let base = generator(Form::Vector);
    let layout = Layout::new(jobs.len(), base.windows.count() + first.windows.count());
    scratch.find_places(jobs, base, layout);
    scratch.load(jobs, base, layout);
    let mut height = layout.slots;
    if layout.parts == 1 {
        while height > 1 && height / 2 * layout.vectors >= WORTHWHILE {
            height = scratch.add_pairs(layout, height);
        }
    }
    for vector in 0..layout.vectors {
        let sums = scratch.sum_up(layout, vector, height);
        let failed = scratch.failed[vector];
        if layout.parts == 1 {
            let jobs = &jobs[vector * 8..jobs.len().min(vector * 8 + 8)];
            compare(jobs, &sums, failed, outcomes);
        } else {
            let parts = sums.to_points();
            let sums = parts.chunks_exact(layout.parts).map(sum_of_parts);
            let first = vector * 8 / layout.parts;
            outcomes.extend(jobs[first..].iter().zip(sums).enumerate().map(
                |(job, ((scalars, _), sum))| {
                    let is_decided = failed >> (job * layout.parts) & 1 == 0 && !sum.is_infinity();
                    if is_decided { Outcome::new(scalars.accept(&sum)) } else { Outcome::Undecided }
                },
            ));
        }
    }
}

impl Layout {
    fn new(jobs: usize, width: usize) -> Self {
        let parts = match jobs {
            1 => 8,
            2 => 4,
            3 | 4 => 2,
            _ => 1,
        };
        let vectors = (jobs * parts).div_ceil(8);
        Self { jobs, parts, width, slots: width.div_ceil(parts), vectors }
    }

    /// The signature of a lane. Lanes beyond the last signature repeat its work.
    fn job(self, vector: usize, lane: usize) -> usize {
        ((vector * 8 + lane) / self.parts).min(self.jobs - 1)
    }

    /// Which of the signature's points is in a slot of a lane; none if the lane has one less.
    fn place(self, lane: usize, slot: usize) -> Option<usize> {
        // The parts are a power of two.
        let place = slot * self.parts + (lane & (self.parts - 1));
        (place < self.width).then_some(place)
    }
}

impl<V: Vector> Scratch<V> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), points: Vec::new(), products: Vec::new(), failed: Vec::new() }
    }

    /// Finds the place of every point, and which lanes have failed before they begin.
    fn find_places(&mut self, jobs: &[(Scalars, &Table)], base: &Table, layout: Layout) {
        places::find(jobs, base, &mut self.places);
        self.failed.clear();
        self.failed.resize(layout.vectors, 0);
        let zeros = jobs.iter().enumerate().filter(|(_, (scalars, _))| is_zero(&scalars.u1));
        for (job, _) in zeros {
            for lane in job * layout.parts..(job + 1) * layout.parts {
                self.failed[lane / 8] |= 1 << (lane % 8);
            }
        }
    }

    #[inline(always)]
    fn load(&mut self, jobs: &[(Scalars, &Table)], base: &Table, layout: Layout) {
        self.points.clear();
        let (of_base, width) = (base.windows.count(), layout.width);
        for vector in 0..layout.vectors {
            let job_of: [usize; 8] = std::array::from_fn(|lane| layout.job(vector, lane));
            let tables = job_of.map(|job| &jobs[job].1.entries[..]);
            let places = job_of.map(|job| &self.places[job * width..][..width]);
            for slot in 0..layout.slots {
                let mut negative = 0;
                let entries: [&Entry; 8] = std::array::from_fn(|lane| {
                    let number = layout.place(lane, slot).unwrap_or(0);
                    let place = places[lane][number];
                    negative |= Mask::from(place.is_negative()) << lane;
                    let table = if number < of_base { &base.entries } else { tables[lane] };
                    &table[place.index()]
                });
                let (x, y) = V::load_points(entries, negative);
                self.points.push(Points { x, y });
            }
        }
    }

    /// Adds the first `height` points of each vector pairwise; returns how many are left.
    #[inline(always)]
    fn add_pairs(&mut self, layout: Layout, height: usize) -> usize {
        let pairs = height / 2;
        let (mut inverses, zeros) = self.multiply_denominators(layout, pairs).invert();
        if zeros != 0 {
            self.find_failed(layout, pairs);
            (inverses, _) = self.multiply_denominators(layout, pairs).invert();
        }
        let mut left = layout.vectors * pairs;
        for (points, failed) in self.points.chunks_exact_mut(layout.slots).zip(&self.failed) {
            for pair in 0..pairs {
                left -= 1;
                let (first, second) = (points[2 * pair], points[2 * pair + 1]);
                let chain = inverses.of(left);
                let inverse = chain.multiply(&self.products[left]);
                *chain = chain.multiply(&denominator(&first, &second, *failed));
                points[pair] = first.plus(&second, &inverse);
            }
            if height % 2 == 1 {
                points[pairs] = points[height - 1];
            }
        }
        pairs + height % 2
    }

    /// The product of each chain's denominators. They are worked out from the last pair on, so that
    /// the first one's sum can be found first, and be put where no other is needed any more.
    #[inline(always)]
    fn multiply_denominators(&mut self, layout: Layout, pairs: usize) -> Chains<V> {
        self.products.clear();
        let mut chains = Chains::new();
        for (points, failed) in self.points.chunks_exact(layout.slots).zip(&self.failed).rev() {
            for pair in points[..2 * pairs].as_chunks::<2>().0.iter().rev() {
                let chain = chains.of(self.products.len());
                self.products.push(*chain);
                *chain = chain.multiply(&denominator(&pair[0], &pair[1], *failed));
            }
        }
        chains
    }

    /// Finds the lanes of single vectors that have a denominator of zero: damaged or hostile
    /// signatures, which are to spoil no other.
    #[inline(always)]
    fn find_failed(&mut self, layout: Layout, pairs: usize) {
        for (points, failed) in self.points.chunks_exact(layout.slots).zip(&mut self.failed) {
            for pair in points[..2 * pairs].as_chunks::<2>().0 {
                *failed |= pair[0].denominator(&pair[1]).zeros();
            }
        }
    }

    /// The sum of the `height` points that each lane of a vector has left.
    #[inline(always)]
    fn sum_up(&self, layout: Layout, vector: usize, height: usize) -> JacobianPoints<V> {
        let points = &self.points[vector * layout.slots..][..height];
        let mut sums = JacobianPoints::from_affine(&points[0]);
        for (slot, point) in points.iter().enumerate().skip(1) {
            let next = sums.add_different(point);
            let is_short = layout.parts > 1 && slot + 1 == layout.slots;
            let keep = if is_short { short_lanes(layout) } else { 0 };
            sums = if keep == 0 { next } else { sums.keep_where(&next, keep) };
        }
        sums
    }
}

/// The lanes that have no point in the last slot.
fn short_lanes(layout: Layout) -> Mask {
    let is_short = |lane: &usize| layout.place(*lane, layout.slots - 1).is_none();
    (0..8).filter(is_short).fold(0, |mask, lane| mask | 1 << lane)
}

/// What a sum divides by, below 5 p; one where the lane has failed.
#[inline(always)]
fn denominator<V: Vector>(first: &Points<V>, second: &Points<V>, failed: Mask) -> V {
    let denominator = first.denominator(second);
    if failed == 0 { denominator } else { denominator.blend(&V::one(), failed) }
}

/// Compares the sums of eight lanes with their signatures.
#[inline(always)]
pub(super) fn compare<T, V: Vector>(
    jobs: &[(Scalars, T)],
    sums: &JacobianPoints<V>,
    failed: Mask,
    outcomes: &mut Vec<Outcome>,
) {
    let Some(last) = jobs.len().checked_sub(1) else { return };
    let r = V::load_integers(std::array::from_fn(|lane| &jobs[lane.min(last)].0.r));
    let expected = V::of_integers(&r).multiply(&sums.z.square());
    let equal = expected.subtract::<2>(&sums.x).zeros();
    let failed = failed | sums.z.zeros();
    outcomes.extend(jobs.iter().enumerate().map(|(lane, (scalars, _))| {
        let is = |mask: Mask| mask >> lane & 1 == 1;
        if is(failed) {
            Outcome::Undecided
        } else if is(equal) {
            Outcome::Valid
        } else if scalars.second_x().is_some() {
            // r + n may be the coordinate: too rare to look at here.
            Outcome::Undecided
        } else {
            Outcome::Mismatch
        }
    }));
}

fn sum_of_parts(parts: &[Jacobian]) -> Jacobian {
    let mut parts = parts.iter();
    let first = parts.next().copied().unwrap_or(Jacobian::INFINITY);
    parts.fold(first, |sum, part| sum.add_projective(part))
}
