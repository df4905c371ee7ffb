use serde_json::Value;

use crate::asn1::{Bounds, Fault, Fields, Type, character, given, index_width, text, unhex};

/// The encoding of a value of type `kind`, given in the form of JSON encoding rules (X.697).
pub(crate) fn encode(kind: &Type, value: &Value) -> Result<Vec<u8>, Fault> {
    let mut writer = Writer { bytes: Vec::new(), free: 0 };
    writer.value(kind, value)?;
    Ok(writer.bytes)
}

struct Writer {
    bytes: Vec<u8>,
    /// How many bits of the last byte are not used.
    free: u32,
}

impl Writer {
    /// Writes the last `count` bits of `value`.
    fn bits(&mut self, mut count: u32, value: u64) {
        while count > 0 {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            let part = count.min(self.free);
            count -= part;
            self.free -= part;
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> count) as u8 & (0xff >> (8 - part))) << self.free;
            }
        }
    }

    fn bit(&mut self, bit: bool) {
        self.bits(1, bit.into());
    }

    /// Writes the first `count` bits of `octets`.
    fn octets(&mut self, count: usize, octets: &[u8]) {
        for (octet, start) in octets.iter().zip((0..count).step_by(8)) {
            let part = (count - start).min(8) as u32;
            self.bits(part, u64::from(*octet) >> (8 - part));
        }
    }

    fn length(&mut self, length: usize) -> Result<(), Fault> {
        match length {
            0..128 => self.bits(8, length as u64),
            128..16_384 => self.bits(16, 0x8000 | length as u64),
            _ => return Err(Fault::new("it has more than 16,383 parts")),
        }
        Ok(())
    }

    fn size(&mut self, bounds: Bounds, size: usize) -> Result<(), Fault> {
        let extended = bounds.extensible && !bounds.contain(size as i64);
        self.bits(bounds.extensible.into(), extended.into());
        if extended { self.length(size) } else { self.within(bounds, size as i64) }
    }

    fn within(&mut self, bounds: Bounds, number: i64) -> Result<(), Fault> {
        self.bits(bounds.width(), bounds.check(number)?.abs_diff(bounds.min));
        Ok(())
    }

    fn integer(&mut self, bounds: Bounds, number: i64) -> Result<(), Fault> {
        let extended = bounds.extensible && !bounds.contain(number);
        self.bits(bounds.extensible.into(), extended.into());
        if !extended {
            return self.within(bounds, number);
        }
        // As few octets as keep its sign.
        let sign_bits = if number < 0 { number.leading_ones() } else { number.leading_zeros() };
        let octets = (64 - sign_bits) / 8 + 1;
        self.length(octets as usize)?;
        self.bits(octets * 8, number as u64);
        Ok(())
    }

    fn value(&mut self, kind: &Type, value: &Value) -> Result<(), Fault> {
        match kind {
            Type::Null => {}
            Type::Natural | Type::Unbounded => {
                return Err(Fault::new("no payload has such numbers"));
            }
            Type::Boolean => self.bit(value.as_bool().ok_or(Fault::new("it is not a Boolean"))?),
            Type::Integer(bounds) => {
                let number = value.as_i64().ok_or(Fault::new("it is not a whole number"))?;
                self.integer(*bounds, number)?;
            }
            Type::Enumerated(names, added) => {
                let find = |names: &[&str]| names.iter().position(|name| value == name);
                let (extended, index) = match find(names) {
                    Some(index) => (false, Some(index)),
                    None => (true, find(added.unwrap_or_default())),
                };
                let index = index.ok_or_else(|| Fault::new(format!("{value} is not known")))?;
                self.bits(added.is_some().into(), extended.into());
                self.bits(if extended { 7 } else { index_width(names.len()) }, index as u64);
            }
            Type::BitString(bounds) => {
                let (bits, size) = if bounds.min == bounds.max {
                    (value, bounds.min as usize)
                } else {
                    (&value["value"], value["length"].as_u64().unwrap_or(0) as usize)
                };
                let octets = unhex(bits)?;
                if octets.len() != size.div_ceil(8) {
                    return Err(Fault::new(format!("it does not have {size} bits")));
                }
                self.size(*bounds, size)?;
                self.octets(size, &octets);
            }
            Type::OctetString(bounds) => {
                let octets = unhex(value)?;
                self.size(*bounds, octets.len())?;
                self.octets(octets.len() * 8, &octets);
            }
            Type::Characters(width, bounds) => {
                self.size(*bounds, text(value)?.chars().count())?;
                for wanted in text(value)?.chars() {
                    let code =
                        (0..1 << width).find(|code| character(*width, *code) == Some(wanted));
                    self.bits(*width, code.ok_or(Fault::new("a character is not allowed"))?.into());
                }
            }
            Type::Utf8String(bounds) => {
                let text = text(value)?;
                bounds.check(text.chars().count() as i64)?;
                self.length(text.len())?;
                self.octets(text.len() * 8, text.as_bytes());
            }
            Type::SequenceOf(bounds, kind) => {
                let items = value.as_array().ok_or(Fault::new("it is not an array"))?;
                self.size(*bounds, items.len())?;
                for (at, item) in items.iter().enumerate() {
                    self.value(kind, item).map_err(|fault| fault.within(&at.to_string()))?;
                }
            }
            Type::Sequence(fields) => self.sequence(fields, value)?,
            Type::Choice(Fields { root, extensible, .. }) => {
                let index = root.iter().position(|field| value.get(field.name).is_some());
                let index = index.ok_or(Fault::new("its alternative is unknown"))?;
                self.bits((*extensible).into(), 0);
                self.bits(index_width(root.len()), index as u64);
                let field = &root[index];
                let value = self.value(field.of, &value[field.name]);
                value.map_err(|fault| fault.within(field.name))?;
            }
        }
        Ok(())
    }

    fn sequence(&mut self, fields: &Fields, value: &Value) -> Result<(), Fault> {
        let given = given(fields, value)?;
        self.bits(fields.extensible.into(), 0);
        let root = || fields.root.iter().zip(&given);
        for (_, value) in root().filter(|(field, _)| field.may_be_absent()) {
            self.bit(value.is_some());
        }
        for (field, value) in root() {
            if let Some(value) = value {
                self.value(field.of, value).map_err(|fault| fault.within(field.name))?;
            }
        }
        Ok(())
    }
}
