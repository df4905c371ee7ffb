//! Descriptions of ASN.1 types, interpreted by two sets of encoding rules: packed ones for the
//! payloads of messages ([`uper`]), octet ones for what secures them ([`coer`]).

pub(crate) mod coer;
pub(crate) mod notation;
pub(crate) mod uper;
mod value;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value as Json;

pub use value::Value;
pub(crate) use value::hex;

/// A type, with the details that the encoding rules need.
pub(crate) enum Type {
    Null,
    Boolean,
    Integer(Bounds),
    /// An INTEGER from 0 up.
    Natural,
    /// An INTEGER without bounds.
    Unbounded,
    /// The names of the root, and of what follows the extension marker where there is one.
    Enumerated(&'static [&'static str], Option<&'static [&'static str]>),
    /// Of 64 bits at most.
    BitString(Bounds),
    OctetString(Bounds),
    /// IA5String or NumericString, by the bits of a character: 7 or 4.
    Characters(u32, Bounds),
    /// The size is in characters; packed encoding rules ignore it and count octets.
    Utf8String(Bounds),
    SequenceOf(Bounds, &'static Type),
    Sequence(Fields),
    /// One of its fields, which are all required.
    Choice(Fields),
}

/// The minimum and maximum number or size; values outside are allowed only with an extension
/// marker.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) extensible: bool,
}

impl Bounds {
    /// How many bits a number within them takes.
    pub(crate) fn width(self) -> u32 {
        u64::BITS - self.max.abs_diff(self.min).leading_zeros()
    }

    /// How many octets a number within them takes by octet rules.
    fn octets(self) -> usize {
        let sign = u32::from(self.min < 0);
        let bits =
            sign + u64::BITS - self.max.max(if sign == 1 { !self.min } else { 0 }).leading_zeros();
        (bits.div_ceil(8) as usize).next_power_of_two()
    }

    pub(crate) fn contain(self, number: i64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    pub(crate) fn check(self, number: i64) -> Result<i64, Fault> {
        let outside =
            || Fault::new(format!("{number} is not between {} and {}", self.min, self.max));
        if self.contain(number) { Ok(number) } else { Err(outside()) }
    }
}

pub(crate) struct Fields {
    pub(crate) root: &'static [Field],
    pub(crate) extensible: bool,
    /// What follows the extension marker; octet rules alone read it.
    pub(crate) additions: &'static [Field],
}

impl Fields {
    /// How many bits stand in front of a sequence: for its extensions, and for each field that may
    /// be absent.
    fn preamble(&self) -> usize {
        let optional = self.root.iter().filter(|field| field.may_be_absent()).count();
        usize::from(self.extensible) + optional
    }
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) of: &'static Type,
    pub(crate) presence: Presence,
}

impl Field {
    pub(crate) fn may_be_absent(&self) -> bool {
        !matches!(self.presence, Presence::Required)
    }

    fn has_default(&self, value: &Value) -> bool {
        matches!(self.presence, Presence::Default(default) if *value == Value::Integer(default))
    }
}

pub(crate) enum Presence {
    Required,
    Optional,
    Default(i64),
}

/// How many bits the index of one of `count` names or alternatives takes.
pub(crate) fn index_width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// The character with this code: in a NumericString, its place among those allowed.
pub(crate) fn character(width: u32, code: u8) -> Option<char> {
    let code = match width {
        4 => *b" 0123456789".get(usize::from(code))?,
        _ => code,
    };
    Some(code.into())
}

#[derive(Debug)]
pub(crate) struct Fault {
    path: String,
    problem: Cow<'static, str>,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<Cow<'static, str>>) -> Fault {
        Fault { path: String::new(), problem: problem.into() }
    }

    /// The same fault, seen from the value that has the field `name`.
    pub(crate) fn within(mut self, name: &str) -> Fault {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.path, self.problem)
    }
}

/// The fields of `value` that are present, of all that `fields` describes; without what has its
/// default.
fn given<'a>(fields: &Fields, value: &'a Json) -> Result<Vec<Option<&'a Json>>, Fault> {
    let given = value.as_object().ok_or(Fault::new("it is not an object"))?;
    let known = || fields.root.iter().chain(fields.additions);
    if let Some(name) = given.keys().find(|name| known().all(|field| field.name != **name)) {
        return Err(Fault::new("unknown field").within(name));
    }
    let value = |field: &Field| match (given.get(field.name), &field.presence) {
        (None, Presence::Required) => Err(Fault::new("it is missing").within(field.name)),
        (Some(value), Presence::Default(default)) if value == default => Ok(None),
        (value, _) => Ok(value),
    };
    known().map(value).collect()
}

fn text(value: &Json) -> Result<&str, Fault> {
    value.as_str().ok_or(Fault::new("it is not text"))
}

fn unhex(value: &Json) -> Result<Vec<u8>, Fault> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let octet = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let octets = text(value)?.as_bytes().chunks(2).map(octet).collect::<Option<_>>();
    octets.ok_or(Fault::new("it is not hexadecimal"))
}

/// The types of the ASN.1 module in a file, as statics where their names are given.
macro_rules! module {
    ($file:literal: $($name:ident),*) => {
        static MODULE: std::sync::LazyLock<crate::asn1::notation::Module> =
            std::sync::LazyLock::new(|| crate::asn1::notation::read(include_str!($file)));
        $(pub(crate) static $name: std::sync::LazyLock<&crate::asn1::Type> =
            std::sync::LazyLock::new(|| MODULE[stringify!($name)]);)*
    };
}
