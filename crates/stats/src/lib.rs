//! Pure statistics on slices: quantiles, seeded bootstrap intervals, paired differences.
