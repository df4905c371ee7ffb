//! The results of the study of 2018 on its two boards, printed beside a measurement.

/// A measurement of the study; OpenSSL 1.1.0h, 100,000 verifications.
#[derive(Debug)]
pub struct Measured {
    pub board: &'static str,
    pub cores: usize,
    /// `posix`, or `openmp`: one thread per core, and equal shares fixed in advance.
    pub method: &'static str,
    pub threads: usize,
    /// Microseconds per verification, verifications per second and percent of one thread, as printed.
    pub values: [f64; 3],
}

/// All of them, board by board.
pub fn measured() -> impl Iterator<Item = Measured> {
    include_str!("study.txt").lines().filter_map(|line| {
        let [board, cores, method, threads, values @ ..] = &*line.split(' ').collect::<Vec<_>>()
        else {
            return None;
        };
        let values: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
        let (cores, threads) = (cores.parse().ok()?, threads.parse().ok()?);
        Some(Measured { board, cores, method, threads, values: values.try_into().ok()? })
    })
}

/// Verifications per second that the study's crossing needs.
pub const NEED_HZ: f64 = 3_500.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// `scenarios/reference` has the same figures, for the model.
    #[test]
    fn the_figures_equal_those_of_the_model() {
        let (_, text) =
            trackbed_scenario::papers::PAPERS.into_iter().find(|(name, _)| *name == "v2x").unwrap();
        let reference: toml::Table = text.parse().unwrap();
        let figures = reference["figure"].as_array().unwrap();
        let printed = figures.iter().filter_map(|figure| figure.get("printed")?.as_array());
        let mut held = 0;
        for point in printed.flatten() {
            let of = |key: &str| point[key].as_str().unwrap();
            let value = point["value"].as_float().unwrap();
            let [of_x, curve] = [of("x"), of("curve")];
            let is = |name: &str| {
                [of_x, curve].map(|word| word.trim_start_matches("etri-")).contains(&name)
            };
            let all: Vec<Measured> = measured().filter(|one| is(one.board)).collect();
            let of = |method: &str, threads: usize| {
                let found = all.iter().find(|one| (one.method, one.threads) == (method, threads));
                found.unwrap().values[1]
            };
            let own = match of_x.parse::<usize>() {
                Ok(threads) => of("posix", threads),
                Err(_) => of(if is("static") { "openmp" } else { "posix" }, all[0].cores),
            };
            assert_eq!(own, value, "{point:?}");
            held += 1;
        }
        assert_eq!(held, 12);
    }
}
