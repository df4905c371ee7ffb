//! Data embedded in a page.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use trackbed_outward::printable;

/// `data` as JSON for a `<script>`: without `<`, which could end the element or open a comment, with
/// numbers rounded to seven significant digits, more than a figure can show, and with texts that are
/// [`printable()`].
pub(crate) fn embedded(data: &impl Serialize) -> String {
    let mut value = serde_json::to_value(data).expect("plain data is JSON");
    shorten(&mut value);
    value.to_string().replace('<', "\\u003c")
}

fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let short = number.as_f64().filter(|_| number.is_f64()).and_then(short);
            if let Some(short) = short {
                *value = short;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(fields) => {
            let all = std::mem::take(fields).into_iter();
            *fields = all.map(|(name, value)| (printable(&name).into_owned(), value)).collect();
            fields.values_mut().for_each(shorten);
        }
        Value::String(text) => {
            if let Cow::Owned(shown) = printable(text) {
                *text = shown;
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// A number with seven significant digits; a whole number without its decimal point.
fn short(number: f64) -> Option<Value> {
    let rounded: f64 = format!("{number:.6e}").parse().ok()?;
    match rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        true => Some(Value::from(rounded as i64)),
        false => serde_json::Number::from_f64(rounded).map(Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_ends_the_script_and_the_text_comes_back() {
        let hostile = "</script><!--<img src=x onerror=alert(1)>";
        let text = embedded(&json!({ "name": hostile }));
        assert!(!text.contains('<'), "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["name"], hostile);
    }

    #[test]
    fn what_changes_directions_is_shown_and_not_done() {
        let text = embedded(&json!({ "a\u{202e}b": ["c\u{2066}d\u{1b}", "zwölf\n"] }));
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back, json!({ "a\\u202eb": ["c\\u2066d\\u001b", "zwölf\n"] }));
    }

    #[test]
    fn numbers_keep_seven_digits() {
        let list = [1418.0954666666667, 6.0, -0.1, 1.0 / 3.0, 1e-9, 1e300, f64::NAN];
        assert_eq!(embedded(&list), "[1418.095,6,-0.1,0.3333333,1e-9,1e+300,null]");
    }
}
