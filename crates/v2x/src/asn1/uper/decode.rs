use crate::asn1::{Bounds, Fault, Field, Fields, Type, Value, character, index_width};

pub(crate) fn decode(kind: &Type, bytes: &[u8]) -> Result<Value, Fault> {
    Reader { bytes, at: 0 }.value(kind)
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl Reader<'_> {
    /// The next `count` bits, 64 at most, as a number.
    fn bits(&mut self, count: u32) -> Result<u64, Fault> {
        let end = self.at + count as usize;
        if end > self.bytes.len() * 8 {
            return Err(Fault::new("the message ends here"));
        }
        let mut value = 0;
        while self.at < end {
            let offset = self.at % 8;
            let taken = (8 - offset).min(end - self.at);
            let bits = self.bytes[self.at / 8] >> (8 - offset - taken);
            value = (value << taken) | (u64::from(bits) & ((1 << taken) - 1));
            self.at += taken;
        }
        Ok(value)
    }

    fn bit(&mut self) -> Result<bool, Fault> {
        Ok(self.bits(1)? == 1)
    }

    fn octets(&mut self, count: usize) -> Result<Vec<u8>, Fault> {
        (0..count).map(|_| Ok(self.bits(8)? as u8)).collect()
    }

    /// A length without bounds (section 11.9).
    fn length(&mut self) -> Result<usize, Fault> {
        Ok(match (self.bit()?, self.bits(7)?) {
            (false, length) => length as usize,
            (true, high) if high < 64 => ((high << 8) | self.bits(8)?) as usize,
            (true, _) => return Err(Fault::new("it has more than 16,383 parts")),
        })
    }

    fn size(&mut self, bounds: Bounds) -> Result<usize, Fault> {
        let extended = bounds.extensible && self.bit()?;
        if extended { self.length() } else { Ok(self.within(bounds)? as usize) }
    }

    fn within(&mut self, bounds: Bounds) -> Result<i64, Fault> {
        bounds.check(bounds.min.saturating_add_unsigned(self.bits(bounds.width())?))
    }

    fn integer(&mut self, bounds: Bounds) -> Result<i64, Fault> {
        if !(bounds.extensible && self.bit()?) {
            return self.within(bounds);
        }
        let octets = self.length()?;
        if !(1..=8).contains(&octets) {
            return Err(Fault::new(format!("it is a number of {octets} octets")));
        }
        let bits = 8 * octets as u32;
        let sign_at_the_top = self.bits(bits)? << (64 - bits);
        Ok(sign_at_the_top as i64 >> (64 - bits))
    }

    /// The index of one of `count` names or alternatives; or `true` and the index of an extension, a
    /// normally small number (section 11.6), of which none above 63 is known.
    fn index(&mut self, count: usize, extensible: bool) -> Result<(bool, usize), Fault> {
        let extended = extensible && self.bit()?;
        let width = if extended { 7 } else { index_width(count) };
        Ok((extended, self.bits(width)? as usize))
    }

    fn value(&mut self, kind: &Type) -> Result<Value, Fault> {
        Ok(match kind {
            Type::Null => Value::Null,
            Type::Natural | Type::Unbounded => {
                return Err(Fault::new("no payload has such numbers"));
            }
            Type::Boolean => Value::Boolean(self.bit()?),
            Type::Integer(bounds) => Value::Integer(self.integer(*bounds)?),
            Type::Enumerated(names, added) => {
                let (extended, index) = self.index(names.len(), added.is_some())?;
                let names = if extended { added.unwrap_or_default() } else { names };
                let name = names.get(index);
                Value::Name(name.ok_or_else(|| Fault::new(format!("name {index} is unknown")))?)
            }
            Type::BitString(bounds) => {
                let size = self.size(*bounds)? as u32;
                let bits = Value::Bits(self.bits(size)?, size);
                if bounds.min == bounds.max {
                    bits
                } else {
                    Value::Fields(vec![("value", bits), ("length", Value::Integer(size.into()))])
                }
            }
            Type::OctetString(bounds) => {
                let size = self.size(*bounds)?;
                Value::Octets(self.octets(size)?)
            }
            Type::Characters(width, bounds) => {
                let mut text = String::new();
                for _ in 0..self.size(*bounds)? {
                    let character = character(*width, self.bits(*width)? as u8);
                    text.push(character.ok_or(Fault::new("a character is not allowed"))?);
                }
                Value::Text(text)
            }
            Type::Utf8String(bounds) => {
                let octets = self.length()?;
                let text = String::from_utf8(self.octets(octets)?);
                let text = text.map_err(|_| Fault::new("it is not UTF-8"))?;
                bounds.check(text.chars().count() as i64)?;
                Value::Text(text)
            }
            Type::SequenceOf(bounds, item) => {
                let mut items = Vec::new();
                for at in 0..self.size(*bounds)? {
                    let item = self.value(item);
                    items.push(item.map_err(|fault| fault.within(&at.to_string()))?);
                }
                Value::List(items)
            }
            Type::Sequence(fields) => Value::Fields(self.sequence(fields)?),
            Type::Choice(Fields { root, extensible, .. }) => {
                let (extended, index) = self.index(root.len(), *extensible)?;
                let field = root.get(index).filter(|_| !extended);
                let field = field.ok_or(Fault::new("its alternative is unknown"))?;
                Value::Fields(vec![(field.name, self.field(field)?)])
            }
        })
    }

    fn field(&mut self, field: &Field) -> Result<Value, Fault> {
        self.value(field.of).map_err(|fault| fault.within(field.name))
    }

    fn sequence(&mut self, fields: &Fields) -> Result<Vec<(&'static str, Value)>, Fault> {
        let extended = fields.extensible && self.bit()?;
        let mut left = (fields.preamble() - usize::from(fields.extensible)) as u32;
        let presence = self.bits(left)?;
        let mut values = Vec::with_capacity(fields.root.len());
        for field in fields.root {
            if field.may_be_absent() {
                left -= 1;
                if (presence >> left) & 1 == 0 {
                    continue;
                }
            }
            let value = self.field(field)?;
            // What has its default is left out.
            if !field.has_default(&value) {
                values.push((field.name, value));
            }
        }
        if extended {
            self.skip_additions().map_err(|fault| fault.within("an extension"))?;
        }
        Ok(values)
    }

    /// Extension additions: their number, a presence bit for each, and each one that is present as an
    /// open type (section 19).
    fn skip_additions(&mut self) -> Result<(), Fault> {
        let count = if self.bit()? { self.length()? } else { self.bits(6)? as usize + 1 };
        let mut present = 0;
        for _ in 0..count {
            present += self.bits(1)?;
        }
        for _ in 0..present {
            let octets = self.length()?;
            self.octets(octets)?;
        }
        Ok(())
    }
}
