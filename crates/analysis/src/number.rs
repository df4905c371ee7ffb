//! Numbers rounded to a useful number of digits.

pub use trackbed_core::text::plural;

/// The number of decimals in a column, so that decimal points align.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimals(usize);

impl Decimals {
    /// Gives the largest number four significant digits and the smallest three, but at most two
    /// decimals if small numbers stand beside large ones.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Decimals {
        let magnitudes = values.into_iter().map(f64::abs).filter(|v| v.is_finite() && *v > 0.0);
        let (smallest, largest) =
            magnitudes.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        if largest == 0.0 {
            return Decimals(0);
        }
        let for_largest = decimals(largest, 4);
        Decimals(for_largest.max(decimals(smallest, 3).min(2)))
    }

    /// The number of decimals that gives `value` this number of significant digits.
    pub fn significant(value: f64, digits: i32) -> Decimals {
        let magnitude = value.abs();
        let known = magnitude.is_finite() && magnitude > 0.0;
        Decimals(if known { decimals(magnitude, digits) } else { 0 })
    }

    /// The number; a dash if it is not finite.
    pub fn text(self, value: f64) -> String {
        if !value.is_finite() {
            return dash();
        }
        let text = format!("{value:.*}", self.0);
        // A value that rounds to zero has no sign.
        match text.strip_prefix('-') {
            Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
            _ => text,
        }
    }

    /// With a sign also before positive numbers.
    pub fn signed(self, value: f64) -> String {
        let text = self.text(value);
        if value > 0.0 { format!("+{text}") } else { text }
    }

    /// An interval.
    pub fn interval(self, [low, high]: [f64; 2]) -> String {
        format!("[{}, {}]", self.text(low), self.text(high))
    }

    /// An interval of differences.
    pub fn signed_interval(self, [low, high]: [f64; 2]) -> String {
        format!("[{}, {}]", self.signed(low), self.signed(high))
    }
}

/// A single number with four significant digits.
pub fn significant(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    Decimals::of([value]).text(value)
}

/// Four significant digits without zeros at the end; whole numbers in full.
pub fn short(value: f64) -> String {
    let text = format!("{value:.*}", decimals(value.abs().max(1e-9), 4));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Stands for a missing value.
pub fn dash() -> String {
    "-".to_owned()
}

/// The number of decimals that shows this number of significant digits of `magnitude`.
fn decimals(magnitude: f64, digits: i32) -> usize {
    let exponent = libm::log10(magnitude).floor() as i32;
    (digits - 1 - exponent).clamp(0, 9) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_kept() {
        assert_eq!(significant(131.2345), "131.2");
        assert_eq!(significant(0.221_349), "0.2213");
        assert_eq!(significant(12_380.4), "12380");
        assert_eq!(significant(10.0), "10");
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(f64::NAN), "-");
        assert_eq!(significant(f64::INFINITY), "-");
    }

    #[test]
    fn numbers_have_the_digits_that_a_reader_can_use() {
        let values = [31.2345, 0.97, 50.0, 0.0, 1_234.56, 0.000_123_456, 123_456.7, 2.0e9];
        let texts = ["31.23", "0.97", "50", "0", "1235", "0.0001235", "123457", "2000000000"];
        assert_eq!(values.map(short), texts);
        assert_eq!([0.05, 10.0, -5.0, 1_000.0].map(short), ["0.05", "10", "-5", "1000"]);
    }

    #[test]
    fn the_numbers_of_a_column_have_the_same_decimals() {
        let column = |values: &[f64]| {
            let decimals = Decimals::of(values.iter().copied());
            values.iter().map(|value| decimals.text(*value)).collect::<Vec<_>>()
        };
        assert_eq!(column(&[102.1234, 131.3456]), ["102.1", "131.3"]);
        assert_eq!(column(&[0.2162, 0.2531]), ["0.2162", "0.2531"]);
        assert_eq!(column(&[29.1723, 0.0219]), ["29.17", "0.02"]);
        assert_eq!(column(&[25_123.4, 102.1]), ["25123", "102"]);
        assert_eq!(column(&[25_123.4, 1.5]), ["25123.40", "1.50"]);
        assert_eq!(column(&[0.0, 0.0]), ["0", "0"]);
    }

    #[test]
    fn signs_are_shown_on_differences_but_not_on_nothing() {
        let decimals = Decimals(1);
        assert_eq!(decimals.signed(1.5), "+1.5");
        assert_eq!(decimals.signed(0.0), "0.0");
        assert_eq!(decimals.signed(-0.01), "0.0");
        assert_eq!(decimals.signed_interval([-1.5, 2.0]), "[-1.5, +2.0]");
    }
}
