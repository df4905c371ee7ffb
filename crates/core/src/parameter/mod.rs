//! Parameters declared by registry entries: one description drives the scenario parser, the models
//! and workloads that read the values, the command line's lists and the reference page.
//!
//! An entry declares [`Parameter`]s. The [`Kind`] of each reads a [`Value`] from text once, when
//! the scenario is read; the entry takes its values from [`Arguments`] as plain Rust types.
//!
//! ```
//! use std::time::Duration;
//! use trackbed_core::parameter::{Arguments, Kind, Parameter};
//! use trackbed_core::parameters;
//!
//! const PARAMETERS: &[Parameter] = parameters! {
//!     "count": Count { min: 1 } = "10" => "messages to send";
//!     "pause": Time, optional => "time between two messages; default: none";
//! };
//!
//! let arguments = Arguments::read(PARAMETERS, &[("pause", Kind::Time.parse("5 ms")?)])?;
//! assert_eq!(arguments.need::<u64>("count"), 10);
//! assert_eq!(arguments.get("pause"), Some(Duration::from_millis(5)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod kind;
mod value;

pub use arguments::{ArgumentError, Arguments};
pub use kind::{Kind, frequency};
pub use value::{FromValue, Value};

/// A parameter that a scenario may set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name by which its entry reads it. Words are separated by `-` or `_`, which are
    /// equivalent in a scenario.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default.
    pub otherwise: Otherwise,
    /// One line for help texts: what it means, and its range.
    pub help: &'static str,
}

/// A table of [`Parameter`]s: a name, its [`Kind`], `= DEFAULT`, `optional` or `required`, and the help.
#[macro_export]
macro_rules! parameters {
    (@ optional) => { $crate::parameter::Otherwise::Absent };
    (@ required) => { $crate::parameter::Otherwise::Required };
    (@ $default:expr) => { $crate::parameter::Otherwise::Default($default) };
    ($(
        $name:tt: $kind:ident $(($($of:tt)*))? $({ $($least:tt)* })?
        $(= $default:expr)? $(, $otherwise:ident)? => $help:expr;
    )*) => {
        &[$($crate::parameter::Parameter {
            name: $name,
            kind: $crate::parameter::Kind::$kind $(($($of)*))? $({ $($least)* })?,
            otherwise: $crate::parameters!(@ $($default)? $($otherwise)?),
            help: $help,
        }),*]
    };
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// It must be set.
    Required,
    /// This value, written as in a scenario.
    Default(&'static str),
    /// It has no value; the help describes the effect.
    Absent,
}

impl Parameter {
    /// A parameter that must be set.
    pub const fn required(name: &'static str, kind: Kind, help: &'static str) -> Parameter {
        Parameter { name, kind, otherwise: Otherwise::Required, help }
    }

    /// A parameter without a default; `help` describes the effect.
    pub const fn optional(name: &'static str, kind: Kind, help: &'static str) -> Parameter {
        Parameter { name, kind, otherwise: Otherwise::Absent, help }
    }

    /// A parameter with the default `default`, written as in a scenario.
    pub const fn with_default(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        help: &'static str,
    ) -> Parameter {
        Parameter { name, kind, otherwise: Otherwise::Default(default), help }
    }
}

impl Otherwise {
    /// The default, if there is one, written as in a scenario.
    pub const fn default_text(self) -> Option<&'static str> {
        match self {
            Otherwise::Default(text) => Some(text),
            Otherwise::Required | Otherwise::Absent => None,
        }
    }
}
