//! Decoded values.

use serde_json::{Map, Value as Json};

/// A value of an ASN.1 type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The value of a NULL.
    Null,
    /// The value of a BOOLEAN.
    Boolean(bool),
    /// The value of an INTEGER.
    Integer(i64),
    /// The name of an ENUMERATED value.
    Name(&'static str),
    /// The value of a BIT STRING: its bits as a number, the last bit lowest, and the number of
    /// bits.
    Bits(u64, u32),
    /// The value of a character string.
    Text(String),
    /// The value of an OCTET STRING.
    Octets(Vec<u8>),
    /// The elements of a SEQUENCE OF.
    List(Vec<Value>),
    /// The fields of a SEQUENCE that are present, or the chosen one of a CHOICE.
    Fields(Vec<(&'static str, Value)>),
}

impl Value {
    /// The field that `path` leads to: names with dots between them.
    pub fn at(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(self, |value, name| match value {
            Value::Fields(fields) => {
                fields.iter().find(|field| field.0 == name).map(|field| &field.1)
            }
            _ => None,
        })
    }

    /// The number that `path` leads to.
    pub fn integer(&self, path: &str) -> Option<i64> {
        match self.at(path) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The octets that `path` leads to.
    pub fn octets(&self, path: &str) -> Option<&[u8]> {
        match self.at(path) {
            Some(Value::Octets(octets)) => Some(octets),
            _ => None,
        }
    }

    /// The elements that `path` leads to; none if it leads nowhere.
    pub fn list(&self, path: &str) -> &[Value] {
        match self.at(path) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// The name and value of the first field: of a CHOICE, the chosen one.
    pub fn chosen(&self) -> (&'static str, &Value) {
        match self {
            Value::Fields(fields) => fields.first().map_or(("", self), |(name, it)| (*name, it)),
            _ => ("", self),
        }
    }

    /// As JSON encoding rules have it (X.697).
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Boolean(flag) => (*flag).into(),
            Value::Integer(number) => (*number).into(),
            Value::Name(name) => (*name).into(),
            Value::Bits(bits, count) => {
                let octets = count.div_ceil(8) as usize;
                format!("{:0width$X}", bits << (octets as u32 * 8 - count), width = octets * 2)
                    .into()
            }
            Value::Text(text) => text.as_str().into(),
            Value::Octets(octets) => hex(octets).into(),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
            Value::Fields(fields) => {
                let fields =
                    fields.iter().map(|(name, value)| ((*name).to_owned(), value.to_json()));
                fields.collect::<Map<_, _>>().into()
            }
        }
    }
}

pub(crate) fn hex(octets: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789ABCDEF"[usize::from(nibble)]);
    octets.iter().flat_map(|octet| [digit(octet >> 4), digit(octet & 15)]).collect()
}
