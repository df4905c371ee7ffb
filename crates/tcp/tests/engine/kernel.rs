//! The engine against the measured kernel; `tests/data/README.md` says how that was measured.

use crate::track::kernel::conditions;
use crate::track::*;

#[test]
fn without_loss_nine_conditions_of_ten_agree_case_by_case() {
    let all: Vec<_> = conditions().into_iter().filter(|c| c.is_lossless()).collect();
    let agreeing = all.iter().filter(|it| it.agrees(it.run_without_loss())).count();
    assert!(agreeing * 10 >= all.len() * 9, "{agreeing} of {}", all.len());
}

#[test]
fn with_loss_the_means_agree_over_the_grid() {
    const SEEDS: u64 = 30;
    // The transfers of 10 MB and more are left to the example `kernel_grid`, for their time.
    let lossy = conditions().into_iter().filter(|c| !c.is_lossless() && c.size <= 1_000_000);
    let ratios: Vec<f64> = lossy
        .map(|condition| {
            let times = (0..SEEDS).map(|seed| condition.run(seed, Duration::ZERO).completion_ms);
            times.sum::<f64>() / SEEDS as f64 / condition.mean()
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 1.0).abs() < 0.10, "mean ratio {mean} over {} conditions", ratios.len());
}
