//! What the study of 2018 measured on its two boards, to be printed beside a measurement.

/// A board of the study; OpenSSL 1.1.0h, 100,000 verifications.
#[derive(Debug)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// Its cores.
    pub cores: usize,
    /// Verifications a second on 1, 2, 4, 8 and 16 POSIX threads.
    pub posix: [(usize, f64); 5],
    /// Verifications a second on as many threads as cores that OpenMP divides beforehand.
    pub openmp: f64,
}

/// Both.
pub const BOARDS: [Board; 2] = [
    Board {
        name: "udoo-quad",
        cores: 4,
        posix: [(1, 619.70), (2, 1233.53), (4, 2395.69), (8, 2417.32), (16, 2439.69)],
        openmp: 2383.09,
    },
    Board {
        name: "odroid-xu4",
        cores: 8,
        posix: [(1, 2037.88), (2, 3941.79), (4, 6298.71), (8, 9183.12), (16, 9209.63)],
        openmp: 5904.24,
    },
];

/// Verifications a second that the study's crossing needs.
pub const NEED_HZ: f64 = 3_500.0;

impl Board {
    /// Verifications a second on one thread.
    pub fn one_thread(&self) -> f64 {
        self.posix[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scenarios/reference` has the same figures, for the model.
    #[test]
    fn the_figures_are_those_that_the_model_is_held_against() {
        let (_, text) =
            trackbed_scenario::papers::PAPERS.into_iter().find(|(name, _)| *name == "v2x").unwrap();
        let reference: toml::Table = text.parse().unwrap();
        let mut held = 0;
        for figure in reference["figure"].as_array().unwrap() {
            let (cell, value) = (&figure["cell"], figure["value"].as_float().unwrap());
            let of = |key: &str| cell.get(key).and_then(toml::Value::as_str);
            let odroid = &BOARDS[1];
            let own = match (of("board"), of("workers"), of("split")) {
                (Some(board), Some(workers), _) => {
                    let board = BOARDS.iter().find(|known| known.name == board).unwrap();
                    let threads: usize = workers.parse().unwrap();
                    board.posix.iter().find(|(known, _)| *known == threads).unwrap().1
                }
                (_, _, Some("static")) => odroid.openmp,
                _ => odroid.posix[3].1,
            };
            assert_eq!(own, value, "{figure:?}");
            held += 1;
        }
        assert_eq!(held, 12);
    }
}
