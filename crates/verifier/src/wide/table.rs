//! A key's table: the windows in lanes.

use crate::arithmetic::{FieldElement, invert_all};
use crate::curve::{Affine, Entry, Form, Jacobian, Table, Windows};

use super::Vector;
use super::inverses;
use super::points::Points;

/// Part of a window's multiples: a point, then it plus 2, 4, 6, ... times the window's base.
struct Run {
    /// Where the first one is in the table.
    place: usize,
    /// Where the window's base is among the runs' first points.
    base: usize,
}

/// Works out the odd multiples of all windows of `point`, as [`Table::new`] does.
#[inline(always)]
pub(crate) fn build<V: Vector>(point: &Affine, windows: Windows) -> Table {
    let length = windows.multiples_of(windows.count() - 1);
    let (runs, firsts) = runs(point, windows, length);
    let mut steps: Vec<Points<V>> = load(runs.iter().map(|run| &firsts[run.base]));
    let firsts = load(firsts.iter());

    let points = vec![firsts[0]; firsts.len() * length];
    let mut work = Work { length, points, inverses: Vec::new(), products: Vec::new() };
    for (points, first) in work.points.chunks_exact_mut(length).zip(&firsts) {
        points[0] = *first;
    }
    work.double(&mut steps);
    let mut have = 1;
    while have < length {
        work.grow(&mut steps, have);
        have *= 2;
    }
    let mut entries = vec![Entry([0; 8]); windows.points()];
    for (points, runs) in work.points.chunks_exact(length).zip(runs.chunks(8)) {
        for (k, points) in points.iter().enumerate() {
            let (x, y) = (V::elements_by_lane(&points.x), V::elements_by_lane(&points.y));
            for ((run, x), y) in runs.iter().zip(x).zip(y) {
                let entry = &mut entries[run.place + k].0;
                entry[..4].copy_from_slice(x.montgomery());
                entry[4..].copy_from_slice(y.montgomery());
            }
        }
    }
    Table { windows, entries: entries.into() }
}

/// Where `windows` of `point` are worked out: a run for each, and a second one for wider ones.
fn runs(point: &Affine, windows: Windows, length: usize) -> (Vec<Run>, Vec<Affine>) {
    let (mut runs, mut firsts): (Vec<Run>, Vec<Jacobian>) = Default::default();
    let mut multiple = Jacobian::from_affine(point);
    for window in 0..windows.count() {
        let (base, place) = (runs.len(), windows.offset_of(window));
        let first = multiple;
        runs.push(Run { place, base });
        firsts.push(first);
        for bit in 1..=windows.bits_of(window) {
            multiple = multiple.double();
            if 1 << bit == 2 * length && windows.multiples_of(window) > length {
                runs.push(Run { place: place + length, base });
                firsts.push(multiple.add_projective(&first));
            }
        }
    }
    let mut inverses: Vec<FieldElement> = firsts.iter().map(|first| first.z).collect();
    invert_all(&mut inverses);
    let firsts = firsts.iter().zip(&inverses).map(|(first, inverse)| first.to_affine(inverse));
    (runs, firsts.collect())
}

/// Eight points a vector; the last one fills up.
#[inline(always)]
fn load<'a, V: Vector>(points: impl Iterator<Item = &'a Affine>) -> Vec<Points<V>> {
    let entries: Vec<Entry> = points.map(|point| Entry::new(point, Form::Vector)).collect();
    let mut vectors = Vec::with_capacity(entries.len().div_ceil(8));
    for chunk in entries.chunks(8) {
        let eight = std::array::from_fn(|lane| &chunk[lane.min(chunk.len() - 1)]);
        let (x, y) = V::load_points(eight, 0);
        vectors.push(Points { x, y });
    }
    vectors
}

struct Work<V> {
    /// Multiples of a run.
    length: usize,
    points: Vec<Points<V>>,
    inverses: Vec<V>,
    products: Vec<V>,
}

impl<V: Vector> Work<V> {
    /// Adds each run's step to the `have` multiples that it has, and doubles the steps. As for
    /// [`Table::new`], no two points that meet are equal or opposite.
    #[inline(always)]
    fn grow(&mut self, steps: &mut [Points<V>], have: usize) {
        self.inverses.clear();
        for (points, step) in self.points.chunks_exact(self.length).zip(&*steps) {
            for point in &points[..have] {
                self.inverses.push(point.denominator(step));
            }
        }
        inverses::invert_all(&mut self.inverses, &mut self.products);
        let mut inverses = self.inverses.iter();
        for (points, step) in self.points.chunks_exact_mut(self.length).zip(&*steps) {
            let (old, new) = points.split_at_mut(have);
            for ((old, new), inverse) in old.iter().zip(new).zip(&mut inverses) {
                *new = old.plus(step, inverse);
            }
        }
        if 2 * have < self.length {
            self.double(steps);
        }
    }

    #[inline(always)]
    fn double(&mut self, points: &mut [Points<V>]) {
        self.inverses.clear();
        for point in &*points {
            self.inverses.push(point.y.add(&point.y));
        }
        inverses::invert_all(&mut self.inverses, &mut self.products);
        for (point, inverse) in points.iter_mut().zip(&self.inverses) {
            let square = point.x.square().subtract::<1>(&V::one());
            let slope = square.add(&square.add(&square)).tidy().multiply(inverse);
            *point = point.chord(&point.x, &slope);
        }
    }
}
