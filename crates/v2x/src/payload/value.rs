//! Decoded values.

use serde_json::{Map, Value as Json};

/// A value of an ASN.1 type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The value of a BOOLEAN.
    Boolean(bool),
    /// The value of an INTEGER.
    Integer(i64),
    /// The name of an ENUMERATED value.
    Name(&'static str),
    /// The value of a BIT STRING: its bits as a number, the last bit lowest, and the number of
    /// bits.
    Bits(u64, u32),
    /// The value of a string; octets in hexadecimal.
    Text(String),
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

    /// As JSON encoding rules have it (X.697).
    pub fn to_json(&self) -> Json {
        match self {
            Value::Boolean(flag) => (*flag).into(),
            Value::Integer(number) => (*number).into(),
            Value::Name(name) => (*name).into(),
            Value::Bits(bits, count) => {
                let octets = count.div_ceil(8) as usize;
                format!("{:0width$X}", bits << (octets as u32 * 8 - count), width = octets * 2)
                    .into()
            }
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
            Value::Fields(fields) => {
                let fields =
                    fields.iter().map(|(name, value)| ((*name).to_owned(), value.to_json()));
                fields.collect::<Map<_, _>>().into()
            }
        }
    }
}
