//! Sequential approximate Bayesian computation: the settings whose simulated figures are near given ones.
//!
//! Adaptive population Monte Carlo (M. Lenormand, F. Jabot and G. Deffuant, "Adaptive approximate Bayesian
//! computation for complex models", Computational Statistics 28, 2013). Half of a population survives each round;
//! the rest is drawn near survivors. The caller simulates, so that it can do so in parallel and stop at any time.

use trackbed_core::{Rng, Seed};

/// One unknown of a setting. A number's coordinate is its place in its range, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// A number. All places in its range are equally likely before anything is simulated.
    Number,
    /// One of so many names; the coordinate is its index. All are equally likely.
    Name(usize),
}

/// A setting that was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// A coordinate for each unknown.
    pub at: Vec<f64>,
    /// How far its figures are from the given ones, in tolerances: up to 1 it is a solution. Infinite for a
    /// setting that cannot be simulated.
    pub distance: f64,
}

/// A survivor with its share of the population.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The setting.
    pub tried: Tried,
    /// Its importance weight; the weights of all members sum to 1.
    pub weight: f64,
}

/// The search. Alternate [`Population::propose`] and [`Population::select`].
#[derive(Clone, Debug)]
pub struct Population {
    unknowns: Vec<Unknown>,
    size: usize,
    rng: Rng,
    members: Vec<Member>,
    rounds_within: u32,
}

impl Population {
    /// A search for `size` settings over these unknowns.
    pub fn new(unknowns: Vec<Unknown>, size: usize, seed: Seed) -> Population {
        let rng = seed.stream("abc");
        Population { unknowns, size: size.max(2), rng, members: Vec::new(), rounds_within: 0 }
    }

    /// The survivors so far, in no order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The distance of the farthest survivor: at most 1 when all are solutions.
    pub fn tolerance(&self) -> f64 {
        let farthest = self.members.iter().map(|member| member.tried.distance).fold(0.0, f64::max);
        if self.members.is_empty() { f64::INFINITY } else { farthest }
    }

    /// Whether all survivors are solutions, and had rounds to spread over all solutions.
    pub fn is_done(&self) -> bool {
        self.rounds_within >= ROUNDS_WITHIN
    }

    /// The settings of the next round.
    pub fn propose(&mut self) -> Vec<Vec<f64>> {
        if self.members.is_empty() {
            return self.all().unwrap_or_else(|| self.spread(FIRST * self.size));
        }
        let kernel = Kernel::around(&self.members, &self.unknowns);
        (0..self.size).map(|_| kernel.draw(&self.members, &mut self.rng)).collect()
    }

    /// Selects the survivors among those so far and what came of the settings that were proposed last.
    pub fn select(&mut self, tried: Vec<Tried>) {
        let new: Vec<Member> = if self.members.is_empty() {
            tried.into_iter().map(|tried| Member { tried, weight: 1.0 }).collect()
        } else {
            let kernel = Kernel::around(&self.members, &self.unknowns);
            let weighed = |tried: Tried| {
                let density = kernel.density(&self.members, &tried.at);
                Member { tried, weight: 1.0 / density.max(f64::MIN_POSITIVE) }
            };
            tried.into_iter().map(weighed).collect()
        };
        // The newest first, so that among solutions, which are all equally good, old ones leave.
        let mut all: Vec<Member> = new.into_iter().chain(self.members.drain(..)).collect();
        all.retain(|member| member.tried.distance.is_finite());
        all.sort_by(|one, other| {
            one.tried.distance.max(1.0).total_cmp(&other.tried.distance.max(1.0))
        });
        let is_whole = self.all().is_some();
        let solutions = all.iter().filter(|member| member.tried.distance <= 1.0).count();
        all.truncate(if is_whole && solutions > 0 { solutions } else { self.size });
        let mut weights: Vec<f64> = all.iter().map(|member| member.weight).collect();
        weights.sort_by(f64::total_cmp);
        let most = WEIGHT_MOST * weights.get(weights.len() / 2).copied().unwrap_or(0.0);
        let sum: f64 = weights.iter().map(|weight| weight.min(most)).sum();
        all.iter_mut().for_each(|member| member.weight = member.weight.min(most) / sum);
        self.members = all;
        let is_full = self.members.len() == self.size && self.tolerance() <= 1.0;
        self.rounds_within = if is_full { self.rounds_within + 1 } else { 0 };
        if is_whole {
            self.rounds_within = ROUNDS_WITHIN;
        }
    }

    /// All settings, if all unknowns are names and the first round has room for all.
    fn all(&self) -> Option<Vec<Vec<f64>>> {
        let mut all = vec![Vec::new()];
        for unknown in &self.unknowns {
            let Unknown::Name(names) = *unknown else { return None };
            let longer = |at: &Vec<f64>, name: usize| [&at[..], &[name as f64]].concat();
            all = (0..names).flat_map(|name| all.iter().map(move |at| longer(at, name))).collect();
            if all.len() > FIRST * self.size {
                return None;
            }
        }
        Some(all)
    }

    /// A Latin hypercube: each number's range in `count` strips with one setting in each, and each name as
    /// often as any other.
    fn spread(&mut self, count: usize) -> Vec<Vec<f64>> {
        let mut all = vec![Vec::with_capacity(self.unknowns.len()); count];
        for unknown in &self.unknowns {
            let mut strips: Vec<usize> = (0..count).collect();
            for last in (1..count).rev() {
                strips.swap(last, self.rng.below(last as u64 + 1) as usize);
            }
            for (at, strip) in all.iter_mut().zip(strips) {
                at.push(match unknown {
                    Unknown::Number => (strip as f64 + self.rng.unit()) / count as f64,
                    Unknown::Name(names) => (strip % (*names).max(1)) as f64,
                });
            }
        }
        all
    }
}

/// So many rounds are simulated after all survivors have become solutions.
const ROUNDS_WITHIN: u32 = 4;
/// No survivor weighs more than so many typical ones: where hardly any draw comes, one that did would outweigh all
/// others, and the next draws would be around it alone (truncated importance weights, Ionides 2008). From 10 to 40 the
/// tests below give the same; with 5 the ends of a set are left out.
const WEIGHT_MOST: f64 = 20.0;
/// The first round has so many settings for each survivor.
const FIRST: usize = 2;
/// The probability that a name is kept.
const KEPT: f64 = 0.7;

/// Where new settings lie around a survivor: numbers are normal with twice the covariance of the survivors.
struct Kernel<'a> {
    unknowns: &'a [Unknown],
    /// The lower triangle of the Cholesky factor, over the numbers only.
    factor: Vec<Vec<f64>>,
}

impl<'a> Kernel<'a> {
    fn around(members: &[Member], unknowns: &'a [Unknown]) -> Kernel<'a> {
        let points: Vec<(f64, Vec<f64>)> =
            members.iter().map(|one| (one.weight, numbers(unknowns, &one.tried.at))).collect();
        let count = points.first().map_or(0, |(_, point)| point.len());
        let sum = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
            points.iter().map(|(weight, point)| weight * of(point)).sum()
        };
        let means: Vec<f64> = (0..count).map(|i| sum(&|point| point[i])).collect();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(count);
        for i in 0..count {
            let mut row: Vec<f64> = Vec::with_capacity(i + 1);
            for j in 0..=i {
                let covariance = 2.0 * sum(&|point| (point[i] - means[i]) * (point[j] - means[j]));
                let inner: f64 =
                    row.iter().zip(factor.get(j).unwrap_or(&row)).map(|(a, b)| a * b).sum();
                let rest = covariance - inner;
                row.push(match i == j {
                    true => rest.max(NARROWEST * NARROWEST).sqrt(),
                    false => rest / factor[j][j],
                });
            }
            factor.push(row);
        }
        Kernel { unknowns, factor }
    }

    /// A setting near a survivor, within all ranges.
    fn draw(&self, members: &[Member], rng: &mut Rng) -> Vec<f64> {
        let mut rest = rng.unit();
        let chosen = members.iter().find(|member| {
            rest -= member.weight;
            rest <= 0.0
        });
        let Some(from) = chosen.or(members.last()) else { return Vec::new() };
        let center = numbers(self.unknowns, &from.tried.at);
        let moved = (0..TRIES).find_map(|_| {
            let normal: Vec<f64> = center.iter().map(|_| rng.normal()).collect();
            let shift = self.factor.iter().map(|row| -> f64 {
                row.iter().zip(&normal).map(|(factor, normal)| factor * normal).sum()
            });
            let moved: Vec<f64> = center.iter().zip(shift).map(|(at, shift)| at + shift).collect();
            moved.iter().all(|at| (0.0..1.0).contains(at)).then_some(moved)
        });
        let mut moved = moved.unwrap_or(center).into_iter();
        let step = |(unknown, at): (&Unknown, &f64)| match *unknown {
            Unknown::Number => moved.next().unwrap_or(*at),
            Unknown::Name(names) if names > 1 && rng.unit() >= KEPT => {
                let other = rng.below(names as u64 - 1) as f64;
                if other < *at { other } else { other + 1.0 }
            }
            Unknown::Name(_) => *at,
        };
        self.unknowns.iter().zip(&from.tried.at).map(step).collect()
    }

    /// The density of draws at a place, up to a constant factor.
    fn density(&self, members: &[Member], at: &[f64]) -> f64 {
        let here = numbers(self.unknowns, at);
        let near = |member: &Member| {
            let there = numbers(self.unknowns, &member.tried.at);
            let mut solved: Vec<f64> = Vec::with_capacity(here.len());
            for (i, row) in self.factor.iter().enumerate() {
                let known: f64 = row.iter().zip(&solved).map(|(factor, one)| factor * one).sum();
                solved.push((here[i] - there[i] - known) / row[i]);
            }
            let square: f64 = solved.iter().map(|one| one * one).sum();
            let names = self.unknowns.iter().zip(at.iter().zip(&member.tried.at));
            let names = names.map(|(unknown, (one, other))| match *unknown {
                Unknown::Name(names) if names > 1 && one == other => KEPT,
                Unknown::Name(names) if names > 1 => (1.0 - KEPT) / (names as f64 - 1.0),
                _ => 1.0,
            });
            member.weight * libm::exp(-square / 2.0) * names.product::<f64>()
        };
        members.iter().map(near).sum()
    }
}

/// The standard deviation of draws is at least this share of a range, so that the search cannot freeze.
const NARROWEST: f64 = 0.002;
/// After so many draws beyond a range, a survivor's own numbers are taken.
const TRIES: usize = 50;

fn numbers(unknowns: &[Unknown], at: &[f64]) -> Vec<f64> {
    let pairs = unknowns.iter().zip(at);
    pairs.filter(|(unknown, _)| **unknown == Unknown::Number).map(|(_, at)| *at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches until done or for `rounds` rounds.
    fn search(
        unknowns: &[Unknown],
        seed: u64,
        rounds: usize,
        distance: impl Fn(&[f64]) -> f64,
    ) -> Population {
        let mut population = Population::new(unknowns.to_vec(), 64, Seed::of_run(seed, 0));
        for _ in 0..rounds {
            let tried = population.propose().into_iter();
            let tried = tried.map(|at| Tried { distance: distance(&at), at });
            population.select(tried.collect());
            if population.is_done() {
                break;
            }
        }
        population
    }

    /// The solutions of x + y = 0.6 within 0.01, for the second of three names; z does not matter.
    fn thin(at: &[f64]) -> f64 {
        let wrong = if at[2] == 1.0 { 0.0 } else { 30.0 };
        (at[0] + at[1] - 0.6).abs() / 0.01 + wrong
    }

    #[test]
    fn the_set_covers_a_thin_diagonal_and_what_does_not_matter() {
        let unknowns = [Unknown::Number, Unknown::Number, Unknown::Name(3), Unknown::Number];
        for seed in 0..8 {
            let found = search(&unknowns, seed, 60, thin);
            assert!(found.is_done() && found.tolerance() <= 1.0, "{}", found.tolerance());
            assert!(found.members().iter().all(|member| member.tried.at[2] == 1.0));
            for free in [0, 1, 3] {
                let places = || found.members().iter().map(|member| member.tried.at[free]);
                let [low, high] = [places().fold(1.0, f64::min), places().fold(0.0, f64::max)];
                let [from, until] = if free == 3 { [0.12, 0.88] } else { [0.12, 0.48] };
                assert!(low < from && high > until, "seed {seed}, {free}: {low} to {high}");
            }
        }
    }

    /// With importance weights the mean of a set that is uniform by construction is its centre.
    #[test]
    fn weights_undo_the_crowding_of_draws() {
        let mut sum = 0.0;
        for seed in 0..20 {
            let found = search(&[Unknown::Number], seed, 30, |at| (at[0] - 0.2).abs() / 0.2);
            let members = found.members().iter();
            let mean: f64 = members.map(|member| member.weight * member.tried.at[0]).sum();
            sum += mean;
            let weights: f64 = found.members().iter().map(|member| member.weight).sum();
            assert!((weights - 1.0).abs() < 1e-9);
        }
        // Standard error of 20 x 64 uniform values in [0, 0.4]: 0.0032.
        assert!((sum / 20.0 - 0.2).abs() < 0.013, "{}", sum / 20.0);
    }

    #[test]
    fn the_same_seed_finds_the_same_and_what_cannot_be_simulated_never_survives() {
        let half = |at: &[f64]| if at[0] < 0.5 { f64::INFINITY } else { at[0] / 0.6 };
        let [one, other] = [(); 2].map(|()| search(&[Unknown::Number], 7, 20, half));
        assert_eq!(one.members(), other.members());
        assert!(one.members().iter().all(|member| member.tried.at[0] >= 0.5));
        let names = [Unknown::Name(2), Unknown::Name(3)];
        let two = search(&names, 7, 1, |at| if at[1] == 2.0 { 0.5 } else { 2.0 });
        assert!(two.is_done() && two.members().iter().all(|one| one.weight == 0.5));
        let none = search(&[Unknown::Number], 7, 5, |_| f64::INFINITY);
        assert!(none.members().is_empty() && none.tolerance() == f64::INFINITY);
    }
    /// A place that hardly any draw reaches would have all of the weight, and all later draws around it.
    #[test]
    fn no_member_outweighs_the_others() {
        let unknowns = [[Unknown::Number; 5].as_slice(), &[Unknown::Name(2); 4]].concat();
        let off = |at: &f64| (at - 0.3).abs() / 0.05;
        for seed in 0..40 {
            let found =
                search(&unknowns, seed, 40, |at| at[..4].iter().map(off).fold(0.0, f64::max));
            let most = found.members().iter().map(|member| member.weight).fold(0.0, f64::max);
            assert!(most < 0.2, "seed {seed}: {most}");
            let places = || found.members().iter().map(|member| member.tried.at[4]);
            let [low, high] = [places().fold(1.0, f64::min), places().fold(0.0, f64::max)];
            assert!(low < 0.2 && high > 0.8, "seed {seed}: {low} to {high}");
        }
    }
}
