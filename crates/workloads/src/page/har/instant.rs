//! Times in archives (ISO 8601, the profile of RFC 3339).

/// The milliseconds from 1970 to `text`, for example `2024-05-01T10:00:00.250+02:00`; `None` if it
/// is malformed.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let (date, rest) = text.split_once(['T', 't'])?;
    let zone = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone);
    let days = days(date)?;
    let [hours, minutes, seconds]: [&str; 3] =
        time.split(':').collect::<Vec<_>>().try_into().ok()?;
    let minutes = number(hours, 23)? * 60 + number(minutes, 59)? - offset_minutes(zone)?;
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    // A leap second is 60.
    let whole = number(whole, 60)?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    let seconds = days * 86_400 + minutes * 60 + whole;
    Some(seconds as f64 * 1e3 + fraction * 1e3)
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days(date: &str) -> Option<i64> {
    let [year, month, day]: [&str; 3] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
    let (year, month, day) = (number(year, 9_999)?, number(month, 12)?, number(day, 31)?);
    if month == 0 || day == 0 {
        return None;
    }
    // Counting years from March puts the leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before_year = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let before_month = (153 * month + 2) / 5;
    Some(before_year + before_month + day - 1 - DAYS_TO_1970)
}

/// `Z`, `+02:00` or `-0330`.
fn offset_minutes(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, digits) = zone.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = number(hours, 23)? * 60 + number(minutes, 59)?;
    Some(if sign == "-" { -minutes } else { minutes })
}

/// A number of digits only, of at most `max`.
fn number(text: &str, max: i64) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number <= max)
}

/// From the first of March of the year 0.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected seconds are the output of `date -u -d TEXT +%s`.
    #[test]
    fn instants_are_those_of_the_calendar() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00:00.5Z", 951_825_600_500.0),
            ("2024-03-01T00:00:00+00:00", 1_709_251_200_000.0),
            ("2024-05-01T12:00:00.250+02:00", 1_714_557_600_250.0),
            ("2023-12-31T20:30:00-0330", 1_704_067_200_000.0),
        ] {
            assert_eq!(milliseconds(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn nonsense_is_none() {
        for text in [
            "",
            "now",
            "2024-05-01",
            "2024-05-01T10:00:00",
            "2024-13-01T10:00:00Z",
            "2024-00-01T10:00:00Z",
            "2024-05-01T24:00:00Z",
            "2024-05-01T10:00Z",
            "2024-05-01T10:00:00.Z",
            "2024-05-01T10:00:00+2",
            "2024-05-01T10:00:-1Z",
            "\u{e4}T\u{e4}Z",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}
