//! The results of the study of 2018 on its two boards, printed beside a measurement.

/// A board of the study; OpenSSL 1.1.0h, 100,000 verifications.
#[derive(Debug)]
pub struct Board {
    pub name: &'static str,
    pub cores: usize,
    /// Microseconds per verification, verifications per second and percent of one thread, as printed, by the
    /// number of POSIX threads.
    pub posix: [(usize, [f64; 3]); 5],
    /// The same with one OpenMP thread per core and equal shares fixed in advance.
    pub openmp: [f64; 3],
}

/// Both boards.
pub const BOARDS: [Board; 2] = [
    Board {
        name: "udoo-quad",
        cores: 4,
        posix: [
            (1, [1613.67, 619.70, 100.00]),
            (2, [810.68, 1233.53, 199.05]),
            (4, [417.24, 2395.69, 386.75]),
            (8, [413.68, 2417.32, 390.08]),
            (16, [409.89, 2439.69, 393.69]),
        ],
        openmp: [419.62, 2383.09, 384.55],
    },
    Board {
        name: "odroid-xu4",
        cores: 8,
        posix: [
            (1, [490.71, 2037.88, 100.00]),
            (2, [253.69, 3941.79, 193.43]),
            (4, [158.76, 6298.71, 309.08]),
            (8, [108.90, 9183.12, 450.62]),
            (16, [108.58, 9209.63, 451.92]),
        ],
        openmp: [169.37, 5904.24, 289.72],
    },
];

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
            let is = |name: &str| [of("x"), of("curve")].contains(&name);
            let board = BOARDS.iter().find(|known| is(known.name)).unwrap();
            let on = |threads| board.posix.iter().find(|(known, _)| *known == threads).unwrap().1;
            let own = match of("x").parse::<usize>() {
                Ok(threads) => on(threads)[1],
                Err(_) if is("static") => board.openmp[1],
                Err(_) => on(board.cores)[1],
            };
            assert_eq!(own, value, "{point:?}");
            held += 1;
        }
        assert_eq!(held, 12);
    }
}
