//! The server's check of a message: mandatory fields, and ranges.

use std::sync::LazyLock;

use serde_json::Value;

/// Checks JSON of at least the first `containers` containers.
pub(super) fn check(message: &[u8], containers: usize) -> Result<(), String> {
    let message: Value =
        serde_json::from_slice(message).map_err(|why| format!("not JSON: {why}"))?;
    for (index, fields) in FIELDS.chunk_by(|one, next| one.container == next.container).enumerate()
    {
        let name = fields[0].container;
        match message.get(name) {
            Some(container) => fields.iter().try_for_each(|field| field.check(container))?,
            None if index < containers => return Err(format!("{name} is missing")),
            None => {}
        }
    }
    Ok(())
}

struct Field {
    container: &'static str,
    /// Its place in the container (RFC 6901).
    pointer: &'static str,
    is_mandatory: bool,
    /// The smallest and the largest value, whole numbers.
    range: [i64; 2],
}

impl Field {
    fn check(&self, container: &Value) -> Result<(), String> {
        let Field { container: name, pointer, is_mandatory, range: [min, max] } = self;
        let value = match container.pointer(pointer) {
            Some(value) => value,
            None if *is_mandatory => return Err(format!("{name}{pointer} is missing")),
            None => return Ok(()),
        };
        match value.as_i64().is_some_and(|number| (*min..=*max).contains(&number)) {
            true => Ok(()),
            false => {
                Err(format!("{name}{pointer} is {value}, not a whole number from {min} to {max}"))
            }
        }
    }
}

/// Containers and their fields, in the standard's order.
static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let field = |line: &'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [container, pointer, presence, min, max] = words[..] else { return None };
        let range = [min.parse().ok()?, max.parse().ok()?];
        Some(Field { container, pointer, is_mandatory: presence == "mandatory", range })
    };
    include_str!("fields.txt").lines().filter_map(field).collect()
});
