"""What SciPy and NumPy make of shared data: writes the table `reference.txt`.

    python3 reference.py > reference.txt

A line is a question, the data or numbers that it is about, and the answers. What SciPy has not, the
interval that knows skewness, is found here by searching for its ends, where ours solves for them.
"""

import inspect

import numpy as np
from scipy import optimize, stats

# SciPy's name for it before 1.15.
SEED = {"rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state": 1}


def data():
    """Data sets, drawn with NumPy's generator and rounded, so that the table holds them exactly."""
    rng = np.random.default_rng(7)
    luck = rng.lognormal(0, 0.3, 30)
    sets = {
        "symmetric": np.arange(1, 21) - 7.0,
        "skewed": np.array([3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487], float),
        "normal": rng.normal(100, 10, 30),
        "exponential": rng.exponential(20, 30),
        "lognormal": rng.lognormal(0, 1, 30),
        "few": rng.exponential(5, 4),
        "many": rng.exponential(5, 400),
        "base": 100 * luck * (1 + 0.05 * rng.normal(size=30)),
        "same": 100 * luck * (1 + 0.05 * rng.normal(size=30)),
        "slower": 106 * luck * (0.95 + 0.05 * rng.exponential(1, 30)),
        "level": np.full(20, 100.0),
        "swing": 101 + 0.5 * (np.arange(1, 21) - 10.5),
        "apart": 120 * rng.lognormal(0, 0.3, 17),
    }
    return {name: np.round(values, 6) for name, values in sets.items()}


def say(question, *answers):
    print(question, *(repr(float(x)) if isinstance(x, (float, np.floating)) else x for x in answers))


def skewness(x):
    return stats.skew(x) * (1 + 1 / np.sqrt(len(x)))


def mean_of(x):
    """Estimate, error, skewness of the estimate, degrees of freedom."""
    n = len(x)
    return np.mean(x), stats.sem(x), skewness(x) / np.sqrt(n), n - 1


def difference_of(y, x):
    """As Zhou and Dinh (2005) have it for two samples, with Welch's degrees of freedom."""
    v, w = np.var(y, ddof=1) / len(y), np.var(x, ddof=1) / len(x)
    third = skewness(y) * np.std(y, ddof=1) ** 3 / len(y) ** 2
    third -= skewness(x) * np.std(x, ddof=1) ** 3 / len(x) ** 2
    freedom = (v + w) ** 2 / (v**2 / (len(y) - 1) + w**2 / (len(x) - 1))
    return np.mean(y) - np.mean(x), np.sqrt(v + w), third / (v + w) ** 1.5, freedom


def tails(of, at):
    """One-sided p-values of `at` or less, and of `at` or more: the larger of Student's and Hall's."""
    estimate, error, k, freedom = of
    t = (estimate - at) / error
    hall = t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6
    above = max(stats.t.sf(t, freedom), stats.t.sf(hall, freedom))
    return above, max(stats.t.cdf(t, freedom), stats.t.cdf(hall, freedom))


def either(of):
    return min(1.0, 2 * min(tails(of, 0)))


def interval(of, confidence):
    estimate, error = of[:2]
    tail = (1 - confidence) / 2
    low = optimize.brentq(lambda m: tails(of, m)[0] - tail, estimate - 1e3 * error, estimate, xtol=1e-12)
    high = optimize.brentq(lambda m: tails(of, m)[1] - tail, estimate, estimate + 1e3 * error, xtol=1e-12)
    return low, high


def ratio_interval(pivot, ratio):
    """Where the test of a ratio no longer rejects."""
    low = optimize.brentq(lambda r: tails(pivot(r), 0)[0] - 0.025, 0.2 * ratio, ratio, xtol=1e-13)
    high = optimize.brentq(lambda r: tails(pivot(r), 0)[1] - 0.025, ratio, 5 * ratio, xtol=1e-13)
    return low, high


def describe(sets):
    for name, x in sets.items():
        if name == "level":
            continue
        for p in (0.0, 0.05, 0.5, 0.95, 0.99, 1.0):
            say("quantile", name, p, np.quantile(x, p))
        for confidence in (0.9, 0.95, 0.999):
            say("mean", name, confidence, *interval(mean_of(x), confidence))
        for p in (0.1, 0.5, 0.9):
            # The quantile that is tested decides nothing about the interval.
            tested = stats.quantile_test(x, q=0, p=p).confidence_interval(0.95)
            say("order", name, p, float(tested.low), float(tested.high))
    for name in ("symmetric", "normal"):
        x = sets["symmetric"] if name == "symmetric" else sets["normal"]
        t = stats.ttest_1samp(x, 0).confidence_interval(0.95)
        say("student", name, 0.95, t.low, t.high)
    for name in ("skewed", "exponential", "lognormal"):
        found = stats.bootstrap(
            (sets[name],), np.mean, n_resamples=200_000, method="BCa", batch=10_000, **SEED
        ).confidence_interval
        say("bca", name, "mean", found.low, found.high)
        found = stats.bootstrap(
            (sets[name],), np.std, n_resamples=200_000, method="BCa", batch=10_000, **SEED
        ).confidence_interval
        say("bca", name, "deviation", found.low, found.high)


def compare(sets):
    for x, y in (("base", "same"), ("base", "slower"), ("same", "slower")):
        a, b = sets[x], sets[y]
        pivot = lambda r: mean_of(b - r * a)
        ratio = b.mean() / a.mean()
        say("paired", x, y, either(pivot(1)), *interval(pivot(1), 0.95), *ratio_interval(pivot, ratio))
        margins = tails(pivot(0.97), 0)[0], tails(pivot(1.03), 0)
        say("margins", x, y, "paired", max(margins[0], margins[1][1]), margins[1][1], margins[1][0])
        flipped = stats.permutation_test(
            (b - a,), np.mean, permutation_type="samples", n_resamples=200_000, batch=10_000, **SEED
        )
        say("chance", x, y, "paired", flipped.pvalue, stats.wilcoxon(b, a).pvalue, stats.ttest_rel(b, a).pvalue)
    for x, y in (("level", "swing"), ("base", "same"), ("base", "slower")):
        a, b = sets[x], sets[y]
        low = stats.ttest_1samp(b - 0.97 * a, 0, alternative="greater").pvalue
        high = stats.ttest_1samp(b - 1.03 * a, 0, alternative="less").pvalue
        say("tost", x, y, max(low, high))
    for x, y in (("base", "same"), ("base", "slower"), ("base", "apart"), ("exponential", "lognormal")):
        a, b = sets[x], sets[y]
        pivot = lambda r: difference_of(b, r * a)
        ratio = b.mean() / a.mean()
        say("unpaired", x, y, either(pivot(1)), *interval(pivot(1), 0.95), *ratio_interval(pivot, ratio))
        margins = tails(pivot(0.97), 0)[0], tails(pivot(1.03), 0)
        say("margins", x, y, "unpaired", max(margins[0], margins[1][1]), margins[1][1], margins[1][0])
        mixed = stats.permutation_test(
            (b, a), lambda b, a, axis: stats.ttest_ind(b, a, axis=axis, equal_var=False).statistic,
            n_resamples=20_000, batch=2_000, vectorized=True, **SEED,
        )
        welch = stats.ttest_ind(b, a, equal_var=False).pvalue
        say("chance", x, y, "unpaired", mixed.pvalue, stats.mannwhitneyu(b, a).pvalue, welch)


SETS = data()
for name, values in SETS.items():
    say("data", name, *(float(x) for x in values))
describe(SETS)
compare(SETS)
