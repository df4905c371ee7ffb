//! Times as logs have them.

use chrono::{DateTime, NaiveDateTime};

use super::decimal;

/// The seconds since 1970, or since any start, of a number in a unit of so many seconds, or of a date and a time:
/// RFC 3339, or without a zone, which is UTC then, or with the name of one in RFC 5322.
///
/// A number without a unit has seconds, unless it is so long that these seconds since 1970 would be thousands of
/// years: then it has milliseconds, microseconds or nanoseconds.
pub fn seconds(text: &str, unit: Option<f64>) -> Option<f64> {
    let by_length = |number: f64| match number.abs() {
        number if number < 1e11 => 1.0,
        number if number < 1e14 => 1e-3,
        number if number < 1e17 => 1e-6,
        _ => 1e-9,
    };
    // As milliseconds, fourteen digits are times after the year 2286.
    let digits = (text.len() == 14).then(|| date(text)).flatten();
    let number = decimal(text).map(|number| number * unit.unwrap_or_else(|| by_length(number)));
    digits.or(number).or_else(|| date(text))
}

fn date(text: &str) -> Option<f64> {
    let text = &*text.replace(',', ".");
    let with_offset = |format| DateTime::parse_from_str(text, format).ok();
    let offset =
        ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%.f%z"].into_iter().find_map(with_offset);
    if let Some(time) = DateTime::parse_from_rfc3339(text).ok().or(offset) {
        return Some(time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9);
    }
    let is_zone = |(_, zone): &(&str, &str)| zone.starts_with(|c: char| c.is_alphabetic());
    let (text, hours) = match text.rsplit_once(' ').filter(is_zone) {
        Some((text, zone)) => {
            let mut words = ZONES.split(' ').skip_while(|word| *word != zone).skip(1);
            (text, words.next()?.parse::<f64>().ok()?)
        }
        None => (text, 0.0),
    };
    // The last but one is that of `date`.
    let formats = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%d %H:%M",
        "%d.%m.%Y %H:%M:%S%.f",
        "%a %b %e %H:%M:%S UTC %Y",
        "%Y.%m.%d_%H.%M.%S",
        "%Y%m%d%H%M%S",
    ];
    let parsed = |format| NaiveDateTime::parse_from_str(text, format).ok();
    let time = formats.into_iter().find_map(parsed)?.and_utc();
    let seconds = time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9;
    Some(seconds - hours * 3600.0)
}

/// The names of RFC 5322, section 4.3, with the hours by which they are ahead, but CST, which is China's, too; others
/// have more than one meaning.
const ZONES: &str = "UTC 0 GMT 0 Z 0 EST -5 EDT -4 CDT -5 MST -7 MDT -6 PST -8 PDT -7";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_by_their_length_their_unit_or_their_zone() {
        for (text, unit, expected) in [
            ("1700000000,5", None, Some(1_700_000_000.5)),
            ("1700000000500", None, Some(1_700_000_000.5)),
            ("1700000000500000", None, Some(1_700_000_000.5)),
            ("1700000000500000000", None, Some(1_700_000_000.5)),
            ("150000000000", Some(1e-9), Some(150.0)),
            ("2023-11-14T23:13:20.5+01:00", None, Some(1_700_000_000.5)),
            ("2023-11-14 22:13:20.5", None, Some(1_700_000_000.5)),
            ("2023-11-14 23:13:20.5 +0100", None, Some(1_700_000_000.5)),
            ("14.11.2023 22:13:20,5", None, Some(1_700_000_000.5)),
            ("Tue Nov 14 22:13:20 UTC 2023", None, Some(1_700_000_000.0)),
            ("20231114221320", None, Some(1_700_000_000.0)),
            ("2023-11-14 22:13", None, Some(1_699_999_980.0)),
            ("2023-11-14 17:13:20.5 EST", None, Some(1_700_000_000.5)),
            ("2023-11-14 17:13:20.5 XYZ", None, None),
            ("yesterday", None, None),
        ] {
            assert_eq!(seconds(text, unit), expected, "{text}");
        }
    }
}
