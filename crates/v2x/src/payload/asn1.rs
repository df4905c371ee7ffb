//! Descriptions of ASN.1 types, interpreted by [`super::uper`].

use std::borrow::Cow;
use std::fmt;

/// A type, with the details that packed encoding rules need.
pub(super) enum Type {
    Boolean,
    Integer(Bounds),
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
pub(super) struct Bounds {
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) extensible: bool,
}

impl Bounds {
    /// How many bits a number within them takes.
    pub(super) fn width(self) -> u32 {
        u64::BITS - self.max.abs_diff(self.min).leading_zeros()
    }

    pub(super) fn contain(self, number: i64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    pub(super) fn check(self, number: i64) -> Result<i64, Fault> {
        let outside =
            || Fault::new(format!("{number} is not between {} and {}", self.min, self.max));
        if self.contain(number) { Ok(number) } else { Err(outside()) }
    }
}

pub(super) struct Fields {
    pub(super) root: &'static [Field],
    pub(super) extensible: bool,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) of: &'static Type,
    pub(super) presence: Presence,
}

pub(super) enum Presence {
    Required,
    Optional,
    Default(i64),
}

/// How many bits the index of one of `count` names or alternatives takes.
pub(super) fn index_width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// The character with this code: in a NumericString, its place among those allowed.
pub(super) fn character(width: u32, code: u8) -> Option<char> {
    let code = match width {
        4 => *b" 0123456789".get(usize::from(code))?,
        _ => code,
    };
    Some(code.into())
}

#[derive(Debug)]
pub(super) struct Fault {
    path: String,
    problem: Cow<'static, str>,
}

impl Fault {
    pub(super) fn new(problem: impl Into<Cow<'static, str>>) -> Fault {
        Fault { path: String::new(), problem: problem.into() }
    }

    /// The same fault, seen from the value that has the field `name`.
    pub(super) fn within(mut self, name: &str) -> Fault {
        let dot = if self.path.is_empty() { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

/// Types as ASN.1 writes them, but for `=`, `;`, SIZE, and quotation marks around names of enumerations.
macro_rules! types {
    ($($name:ident = $kind:ident $body:tt $($item:ident)?;)*) => {
        $(pub(super) static $name: Type = define!($kind $body $($item)?);)*
    };
}

macro_rules! define {
    (INTEGER $size:tt) => { Type::Integer(bounds! $size) };
    (BIT_STRING $size:tt) => { Type::BitString(bounds! $size) };
    (OCTET_STRING $size:tt) => { Type::OctetString(bounds! $size) };
    (IA5String $size:tt) => { Type::Characters(7, bounds! $size) };
    (NumericString $size:tt) => { Type::Characters(4, bounds! $size) };
    (UTF8String $size:tt) => { Type::Utf8String(bounds! $size) };
    (SEQUENCE_OF $size:tt $item:ident) => { Type::SequenceOf(bounds! $size, &$item) };
    (ENUMERATED { $($name:literal),*, ... $(, $added:literal)* }) => {
        Type::Enumerated(&[$($name),*], Some(&[$($added),*]))
    };
    (ENUMERATED { $($name:literal),* }) => { Type::Enumerated(&[$($name),*], None) };
    (SEQUENCE $fields:tt) => { Type::Sequence(fields! $fields) };
    (CHOICE $fields:tt) => { Type::Choice(fields! $fields) };
    (BOOLEAN) => { Type::Boolean };
    ($name:ident) => { $name };
}

macro_rules! bounds {
    ($min:literal..$max:literal, ...) => {
        Bounds { min: $min, max: $max, extensible: true }
    };
    ($min:literal..$max:literal) => {
        Bounds { min: $min, max: $max, extensible: false }
    };
}

macro_rules! fields {
    ($($name:ident $of:ident $(($($size:tt)*))? $($presence:ident $($value:literal)?)?),*, ...) => {
        Fields {
            extensible: true,
            ..fields!($($name $of $(($($size)*))? $($presence $($value)?)?),*)
        }
    };
    ($($name:ident $of:ident $(($($size:tt)*))? $($presence:ident $($value:literal)?)?),*) => {
        Fields {
            root: &[$(Field {
                name: stringify!($name),
                of: &define!($of $(($($size)*))?),
                presence: presence!($($presence $($value)?)?),
            }),*],
            extensible: false,
        }
    };
}

macro_rules! presence {
    () => {
        Presence::Required
    };
    (OPTIONAL) => {
        Presence::Optional
    };
    (DEFAULT $value:literal) => {
        Presence::Default($value)
    };
}
