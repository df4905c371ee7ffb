use serde_json::Value;

use crate::asn1::{Bounds, Fault, Field, Fields, Type, given, text, unhex};

pub(super) fn encode(kind: &Type, value: &Value) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    put(kind, value, &mut out)?;
    Ok(out)
}

/// Writes a length (section 8.6).
pub(crate) fn length(length: usize, out: &mut Vec<u8>) {
    if length >= 128 {
        let octets = shortest(length as i64);
        let octets = octets.strip_prefix(&[0]).unwrap_or(octets.as_slice());
        out.push(0x80 | octets.len() as u8);
        out.extend(octets);
    } else {
        out.push(length as u8);
    }
}

/// As few octets as keep the sign of `number`.
fn shortest(number: i64) -> Vec<u8> {
    let sign_bits = if number < 0 { number.leading_ones() } else { number.leading_zeros() };
    number.to_be_bytes()[(sign_bits - 1) as usize / 8..].to_vec()
}

fn counted(octets: &[u8], out: &mut Vec<u8>) {
    length(octets.len(), out);
    out.extend(octets);
}

fn natural(number: i64, out: &mut Vec<u8>) {
    let octets = shortest(number);
    counted(octets.strip_prefix(&[0]).filter(|rest| !rest.is_empty()).unwrap_or(&octets), out);
}

fn put(kind: &Type, value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    let number = || value.as_i64().ok_or(Fault::new("it is not a whole number"));
    match kind {
        Type::Null => {}
        Type::Integer(bounds) => {
            out.extend(&bounds.check(number()?)?.to_be_bytes()[8 - bounds.octets()..]);
        }
        Type::Natural => {
            let bounds = Bounds { min: 0, max: i64::MAX, extensible: false };
            natural(bounds.check(number()?)?, out);
        }
        Type::Unbounded => counted(&shortest(number()?), out),
        Type::Enumerated(names, added) => {
            let mut names = names.iter().chain(added.unwrap_or_default());
            let index = names.position(|name| value == name);
            out.push(index.ok_or_else(|| Fault::new(format!("{value} is not known")))? as u8);
        }
        Type::BitString(bounds) => {
            let octets = unhex(value)?;
            if bounds.min != bounds.max || octets.len() as i64 != (bounds.max + 7) / 8 {
                return Err(Fault::new(format!("it does not have {} bits", bounds.max)));
            }
            out.extend(octets);
        }
        Type::OctetString(bounds) => {
            let octets = unhex(value)?;
            bounds.check(octets.len() as i64)?;
            if bounds.min == bounds.max { out.extend(octets) } else { counted(&octets, out) }
        }
        Type::Utf8String(bounds) => {
            bounds.check(text(value)?.chars().count() as i64)?;
            counted(text(value)?.as_bytes(), out);
        }
        Type::SequenceOf(bounds, kind) => {
            let items = value.as_array().ok_or(Fault::new("it is not an array"))?;
            natural(bounds.check(items.len() as i64)?, out);
            for (at, item) in items.iter().enumerate() {
                put(kind, item, out).map_err(|fault| fault.within(&at.to_string()))?;
            }
        }
        Type::Sequence(fields) => sequence(fields, value, out)?,
        Type::Choice(fields) => choice(fields, value, out)?,
        Type::Boolean | Type::Characters(..) => {
            return Err(Fault::new("no signed data have such a value"));
        }
    }
    Ok(())
}

fn field(field: &Field, value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    put(field.of, value, out).map_err(|fault| fault.within(field.name))
}

/// An open type: behind its length.
fn addition(of: &Field, value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut inner = Vec::new();
    field(of, value, &mut inner)?;
    counted(&inner, out);
    Ok(())
}

fn choice(fields: &Fields, value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut all = fields.root.iter().chain(fields.additions).enumerate();
    let chosen = all.find_map(|(at, of)| Some((at, of, value.get(of.name)?)));
    let (at, of, value) = chosen.ok_or(Fault::new("its alternative is unknown"))?;
    out.push(0x80 | at as u8);
    if at < fields.root.len() { field(of, value, out) } else { addition(of, value, out) }
}

fn sequence(fields: &Fields, value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    let given = given(fields, value)?;
    let (root, added) = given.split_at(fields.root.len());
    let extended = added.iter().any(Option::is_some);
    let optional = fields.root.iter().zip(root).filter(|(field, _)| field.may_be_absent());
    let optional = optional.map(|(_, value)| value.is_some());
    let presence = fields.extensible.then_some(extended).into_iter().chain(optional);
    out.extend(bits(presence, fields.preamble()));
    for (of, value) in fields.root.iter().zip(root) {
        if let Some(value) = value {
            field(of, value, out)?;
        }
    }
    if extended {
        let mut presence = bits(added.iter().map(Option::is_some), added.len());
        presence.insert(0, (8 * presence.len() - added.len()) as u8);
        counted(&presence, out);
        for (of, value) in fields.additions.iter().zip(added) {
            if let Some(value) = value {
                addition(of, value, out)?;
            }
        }
    }
    Ok(())
}

/// `count` bits, and zeros up to a whole octet.
fn bits(bits: impl Iterator<Item = bool>, count: usize) -> Vec<u8> {
    let mut octets = vec![0; count.div_ceil(8)];
    for (at, _) in bits.enumerate().filter(|(_, bit)| *bit) {
        octets[at / 8] |= 0x80 >> (at % 8);
    }
    octets
}
