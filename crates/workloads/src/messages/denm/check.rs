//! The server's check of a message: mandatory fields, and ranges.

use serde_json::Value;

/// Checks JSON of at least the first `containers` containers.
pub(super) fn check(message: &[u8], containers: usize) -> Result<(), String> {
    let message: Value =
        serde_json::from_slice(message).map_err(|why| format!("not JSON: {why}"))?;
    for (index, container) in CONTAINERS.iter().enumerate() {
        if index < containers || message.get(container.name).is_some() {
            container.check(&message)?;
        }
    }
    Ok(())
}

struct Container {
    name: &'static str,
    fields: &'static [Field],
}

/// A field's place in its container (RFC 6901) and the range of its whole number.
struct Field(&'static str, Presence, i64, i64);

#[derive(PartialEq, Eq)]
enum Presence {
    Mandatory,
    Optional,
}

use Presence::{Mandatory, Optional};

impl Container {
    fn check(&self, message: &Value) -> Result<(), String> {
        let Some(container) = message.get(self.name) else {
            return Err(format!("{} is missing", self.name));
        };
        for Field(pointer, presence, min, max) in self.fields {
            let value = match container.pointer(pointer) {
                Some(value) => value,
                None if *presence == Optional => continue,
                None => return Err(format!("{}{pointer} is missing", self.name)),
            };
            if !value.as_i64().is_some_and(|number| (*min..=*max).contains(&number)) {
                return Err(format!(
                    "{}{pointer} is {value}, not a whole number from {min} to {max}",
                    self.name
                ));
            }
        }
        Ok(())
    }
}

/// In the standard's order, as are the fields.
const CONTAINERS: [Container; 4] = [
    Container {
        name: "header",
        fields: &[
            Field("/protocolVersion", Mandatory, 0, 255),
            // denm(1)
            Field("/messageID", Mandatory, 1, 1),
            Field("/stationID", Mandatory, 0, 4_294_967_295),
        ],
    },
    Container {
        name: "management",
        fields: &[
            Field("/actionID/0", Mandatory, 0, 4_294_967_295),
            Field("/actionID/1", Mandatory, 0, 65_535),
            Field("/detectionTime", Mandatory, 0, 4_398_046_511_103),
            Field("/referenceTime", Mandatory, 0, 4_398_046_511_103),
            Field("/eventPosition/0", Mandatory, -900_000_000, 900_000_001),
            Field("/eventPosition/1", Mandatory, -1_800_000_000, 1_800_000_001),
            Field("/eventPosition/2", Mandatory, -100_000, 800_001),
            Field("/relevanceDistance", Optional, 0, 7),
            Field("/validityDuration", Optional, 0, 86_400),
            Field("/stationType", Mandatory, 0, 255),
        ],
    },
    Container {
        name: "situation",
        fields: &[
            Field("/informationQuality", Mandatory, 0, 7),
            Field("/eventType/0", Mandatory, 0, 255),
            Field("/eventType/1", Mandatory, 0, 255),
        ],
    },
    Container {
        name: "location",
        fields: &[
            Field("/eventSpeed/0", Optional, 0, 16_383),
            Field("/eventSpeed/1", Optional, 1, 127),
        ],
    },
];
