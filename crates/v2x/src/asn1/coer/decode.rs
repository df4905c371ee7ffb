use crate::asn1::{Bounds, Fault, Field, Fields, Type, Value};

/// A value of type `kind` at the front of `bytes`, and what follows it.
pub(super) fn decode<'a>(kind: &Type, bytes: &'a [u8]) -> Result<(Value, &'a [u8]), Fault> {
    let mut reader = Reader { rest: bytes };
    let value = reader.value(kind)?;
    Ok((value, reader.rest))
}

/// The octets at the front of `bytes`, behind their number, and what follows them.
pub(super) fn octets(bytes: &[u8]) -> Result<(&[u8], &[u8]), Fault> {
    let mut reader = Reader { rest: bytes };
    let octets = reader.counted()?;
    Ok((octets, reader.rest))
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn octet(&mut self) -> Result<u8, Fault> {
        Ok(self.octets(1)?[0])
    }

    fn octets(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let split = self.rest.split_at_checked(count);
        let (octets, rest) = split.ok_or(Fault::new("the message ends here"))?;
        self.rest = rest;
        Ok(octets)
    }

    /// A length (section 8.6).
    fn length(&mut self) -> Result<usize, Fault> {
        let first = self.octet()?;
        if first < 128 {
            return Ok(first.into());
        }
        let octets = self.octets(usize::from(first & 127))?;
        let length = natural(octets)?;
        let shortest = length >= 128 && octets[0] != 0;
        usize::try_from(length).ok().filter(|_| shortest).ok_or(not_canonical())
    }

    fn counted(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.length()?;
        self.octets(length)
    }

    /// A number from 0 up in as few octets as hold it.
    fn natural(&mut self) -> Result<i64, Fault> {
        let octets = self.counted()?;
        if octets.len() > 1 && octets[0] == 0 { Err(not_canonical()) } else { natural(octets) }
    }

    /// A number in as few octets as keep its sign.
    fn whole(&mut self) -> Result<i64, Fault> {
        let octets = self.counted()?;
        let padded = matches!(octets, [0, 0..128, ..] | [255, 128..=255, ..]);
        if padded { Err(not_canonical()) } else { signed(octets) }
    }

    fn integer(&mut self, bounds: Bounds) -> Result<i64, Fault> {
        let octets = self.octets(bounds.octets())?;
        bounds.check(if bounds.min < 0 { signed(octets)? } else { natural(octets)? })
    }

    /// As many octets as `bounds` say, or if they allow several numbers, as a length says.
    fn sized(&mut self, bounds: Bounds) -> Result<&'a [u8], Fault> {
        if bounds.min == bounds.max {
            return self.octets(bounds.min as usize);
        }
        let octets = self.counted()?;
        bounds.check(octets.len() as i64)?;
        Ok(octets)
    }

    /// `count` bits, and zeros up to a whole octet.
    fn bits(&mut self, count: usize) -> Result<Bits<'a>, Fault> {
        let octets = self.octets(count.div_ceil(8))?;
        let unused = 8 * octets.len() - count;
        let last = octets.last().copied().unwrap_or_default();
        if last & ((1 << unused) - 1) != 0 { Err(not_canonical()) } else { Ok(Bits(octets)) }
    }

    fn value(&mut self, kind: &Type) -> Result<Value, Fault> {
        Ok(match kind {
            Type::Null => Value::Null,
            Type::Integer(bounds) => Value::Integer(self.integer(*bounds)?),
            Type::Natural => Value::Integer(self.natural()?),
            Type::Unbounded => Value::Integer(self.whole()?),
            Type::Enumerated(names, added) => {
                let index = usize::from(self.octet()?);
                let name = names.iter().chain(added.unwrap_or_default()).nth(index);
                Value::Name(name.ok_or_else(|| Fault::new(format!("name {index} is unknown")))?)
            }
            Type::BitString(Bounds { min, max, .. }) if min == max && *max <= 64 => {
                let octets = self.bits(*max as usize)?.0;
                let number = octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
                Value::Bits(number >> (8 * octets.len() as u32 - *max as u32), *max as u32)
            }
            Type::OctetString(bounds) => Value::Octets(self.sized(*bounds)?.to_vec()),
            Type::Utf8String(bounds) => {
                let text = str::from_utf8(self.counted()?);
                let text = text.map_err(|_| Fault::new("it is not UTF-8"))?;
                bounds.check(text.chars().count() as i64)?;
                Value::Text(text.to_owned())
            }
            Type::SequenceOf(bounds, item) => {
                let count = bounds.check(self.natural()?)?;
                // Not as many at once: a quantity may claim more than the input holds.
                let mut items = Vec::new();
                for at in 0..count {
                    let item = self.value(item);
                    items.push(item.map_err(|fault| fault.within(&at.to_string()))?);
                }
                Value::List(items)
            }
            Type::Sequence(fields) => Value::Fields(self.sequence(fields)?),
            Type::Choice(fields) => {
                let (field, value) = self.choice(fields)?;
                Value::Fields(vec![(field.name, value)])
            }
            Type::Boolean | Type::BitString(_) | Type::Characters(..) => {
                return Err(Fault::new("no signed data have such a value"));
            }
        })
    }

    fn field(&mut self, field: &Field) -> Result<Value, Fault> {
        self.value(field.of).map_err(|fault| fault.within(field.name))
    }

    /// An open type: behind its length, and nothing behind it.
    fn addition(&mut self, field: &Field) -> Result<Value, Fault> {
        let mut inner = Reader { rest: self.counted()? };
        let value = inner.field(field)?;
        let end = if inner.rest.is_empty() { Ok(value) } else { Err(Fault::new("it is too long")) };
        end.map_err(|fault| fault.within(field.name))
    }

    fn choice<'f>(&mut self, fields: &'f Fields) -> Result<(&'f Field, Value), Fault> {
        // Context-specific tags below 63, in their order.
        let tag = self.octet()?;
        let index = usize::from(tag & 63);
        if tag & 0xc0 == 0x80 {
            if let Some(field) = fields.root.get(index) {
                return Ok((field, self.field(field)?));
            }
            if let Some(field) = fields.additions.get(index - fields.root.len()) {
                return Ok((field, self.addition(field)?));
            }
        }
        Err(Fault::new(format!("its alternative {tag:#04x} is unknown")))
    }

    fn sequence(&mut self, fields: &Fields) -> Result<Vec<(&'static str, Value)>, Fault> {
        let presence = self.bits(fields.preamble())?;
        let mut bit = usize::from(fields.extensible);
        let mut values = Vec::with_capacity(fields.root.len());
        for field in fields.root {
            if field.may_be_absent() {
                bit += 1;
                if !presence.has(bit - 1) {
                    continue;
                }
            }
            let value = self.field(field)?;
            if field.has_default(&value) {
                return Err(not_canonical().within(field.name));
            }
            values.push((field.name, value));
        }
        if fields.extensible && presence.has(0) {
            self.additions(fields, &mut values)?;
        }
        Ok(values)
    }

    /// A presence bit for each addition, and each one that is present as an open type.
    fn additions(
        &mut self,
        fields: &Fields,
        values: &mut Vec<(&'static str, Value)>,
    ) -> Result<(), Fault> {
        let mut inner = Reader { rest: self.counted()? };
        let unused = usize::from(inner.octet()?);
        let count = (8 * inner.rest.len()).checked_sub(unused).filter(|_| unused < 8);
        let count = count.ok_or(not_canonical())?;
        let presence = inner.bits(count)?;
        if !(0..count).any(|at| presence.has(at)) {
            return Err(not_canonical());
        }
        for at in (0..count).filter(|at| presence.has(*at)) {
            match fields.additions.get(at) {
                Some(field) => values.push((field.name, self.addition(field)?)),
                None => drop(self.counted()?),
            }
        }
        Ok(())
    }
}

struct Bits<'a>(&'a [u8]);

impl Bits<'_> {
    fn has(&self, at: usize) -> bool {
        self.0[at / 8] << (at % 8) & 0x80 != 0
    }
}

fn natural(octets: &[u8]) -> Result<i64, Fault> {
    let number = octets
        .iter()
        .try_fold(0_i64, |number, octet| number.checked_mul(256)?.checked_add((*octet).into()));
    match number {
        Some(number) if !octets.is_empty() => Ok(number),
        _ => Err(Fault::new("it is not a number below 2^63")),
    }
}

fn signed(octets: &[u8]) -> Result<i64, Fault> {
    if !(1..=8).contains(&octets.len()) {
        return Err(Fault::new(format!("it is a number of {} octets", octets.len())));
    }
    let sign = if octets[0] < 128 { 0 } else { -1 };
    Ok(octets.iter().fold(sign, |number, octet| number << 8 | i64::from(*octet)))
}

fn not_canonical() -> Fault {
    Fault::new("it is not in its canonical form")
}
