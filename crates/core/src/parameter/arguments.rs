//! The values of an entry's parameters.

use std::collections::BTreeMap;

use super::{FromValue, Kind, Otherwise, Parameter, Value};

/// The values of an entry's parameters in one cell, checked, with defaults filled in.
///
/// The getters panic when called for a parameter that the entry did not declare, or with another
/// type than that of its kind: that is a bug in the entry, not an error in a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments(BTreeMap<&'static str, Value>);

/// Why values do not match an entry's parameters, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages describe the fields")]
pub enum ArgumentError {
    #[error("unknown parameter \"{name}\"; known: {}", listed(.known))]
    Unknown { name: String, known: Vec<&'static str> },
    #[error("{name} is given twice; remove one")]
    Repeated { name: &'static str },
    #[error("{name}: \"{value}\" is not a valid value; write {kind}{}", least(.kind))]
    Unfit { name: &'static str, kind: Kind, value: Value },
    #[error("{name} is missing; write {kind}")]
    Missing { name: &'static str, kind: Kind },
}

impl Arguments {
    /// The values `given` for `parameters`, by their names, and the defaults of the others.
    ///
    /// # Errors
    /// If a name is unknown or given twice, a value does not match its parameter, or a required one
    /// is missing.
    ///
    /// # Panics
    /// If a declared default does not match its own kind.
    pub fn read<'p>(
        parameters: impl IntoIterator<Item = &'p Parameter>,
        given: &[(&str, Value)],
    ) -> Result<Arguments, ArgumentError> {
        let parameters: Vec<&Parameter> = parameters.into_iter().collect();
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let Some(&&Parameter { name, kind, .. }) = parameters.iter().find(|p| p.name == *name)
            else {
                let known = parameters.iter().map(|parameter| parameter.name).collect();
                return Err(ArgumentError::Unknown { name: (*name).to_owned(), known });
            };
            if !kind.accepts(value) {
                return Err(ArgumentError::Unfit { name, kind, value: value.clone() });
            }
            if values.insert(name, value.clone()).is_some() {
                return Err(ArgumentError::Repeated { name });
            }
        }
        for &&Parameter { name, kind, otherwise, .. } in &parameters {
            if values.contains_key(name) {
                continue;
            }
            match otherwise {
                Otherwise::Absent => {}
                Otherwise::Default(text) => {
                    let value = kind.parse(text);
                    let value = value.unwrap_or_else(|why| panic!("the default of {name}: {why}"));
                    values.insert(name, value);
                }
                Otherwise::Required => return Err(ArgumentError::Missing { name, kind }),
            }
        }
        Ok(Arguments(values))
    }

    /// The value of a parameter declared as required or with a default.
    ///
    /// # Panics
    /// If it is declared as optional or not at all, or its kind is not read as a `T`.
    pub fn need<T: FromValue>(&self, name: &str) -> T {
        self.get(name).unwrap_or_else(|| {
            panic!("the parameter {name} is not declared as required or with a default")
        })
    }

    /// The value of a parameter that may be absent.
    ///
    /// # Panics
    /// If its kind is not read as a `T`.
    pub fn get<T: FromValue>(&self, name: &str) -> Option<T> {
        let value = self.value(name)?;
        let read = T::from_value(value);
        Some(read.unwrap_or_else(|| {
            panic!("the parameter {name} is read as another type than declared: {value:?}")
        }))
    }

    /// The value of a parameter of any kind.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

fn listed(known: &[&str]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

fn least(kind: &Kind) -> String {
    match kind {
        Kind::Count { min } => format!(", at least {min}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter::required("size", Kind::Size, ""),
        Parameter::with_default("count", Kind::Count { min: 1 }, "10", ""),
        Parameter::optional("deadline", Kind::Time, ""),
    ];

    fn read(given: &[(&str, Value)]) -> Result<Arguments, String> {
        Arguments::read(PARAMETERS, given).map_err(|error| error.to_string())
    }

    fn size() -> (&'static str, Value) {
        ("size", Kind::Size.parse("1 kB").unwrap())
    }

    #[test]
    fn defaults_stand_until_set() {
        let arguments = read(&[size()]).unwrap();
        assert_eq!(arguments.need::<u64>("count"), 10);
        assert_eq!(arguments.get::<Duration>("deadline"), None);
        let deadline = Value::Time(Duration::from_millis(100));
        let arguments = read(&[("count", Value::Count(3)), ("deadline", deadline), size()]);
        let arguments = arguments.unwrap();
        assert_eq!(arguments.need::<u64>("count"), 3);
        assert_eq!(arguments.get("deadline"), Some(Duration::from_millis(100)));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_advice() {
        for (given, message) in [
            (vec![], "size is missing; write a size such as \"355 B\""),
            (vec![size(), size()], "size is given twice; remove one"),
            (
                vec![("lanes", Value::Count(2))],
                "unknown parameter \"lanes\"; known: size, count, deadline",
            ),
            (
                vec![("size", Value::Flag(true))],
                "size: \"true\" is not a valid value; write a size such as \"355 B\"",
            ),
            (
                vec![size(), ("count", Value::Count(0))],
                "count: \"0\" is not a valid value; write a whole number such as 10, at least 1",
            ),
        ] {
            assert_eq!(read(&given).unwrap_err(), message);
        }
        let nothing = Arguments::read(&[], &[size()]).unwrap_err().to_string();
        assert_eq!(nothing, "unknown parameter \"size\"; known: none");
    }

    #[test]
    #[should_panic(expected = "the parameter deadline is not declared as required or with a \
                               default")]
    fn an_entry_that_needs_what_it_declared_optional_is_mistaken() {
        read(&[size()]).unwrap().need::<Duration>("deadline");
    }

    #[test]
    #[should_panic(expected = "the parameter count is read as another type than declared")]
    fn an_entry_that_reads_another_type_than_it_declared_is_mistaken() {
        read(&[size()]).unwrap().get::<Duration>("count");
    }
}
