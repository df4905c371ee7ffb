use super::{CurveType, DigitallySigned, KeyExchangeAlgorithm, NamedGroup};
use crate::buffer::Buf;
use nom::Err;
use nom::error::{Error, ErrorKind};
use nom::number::complete::be_u8;
use nom::{IResult, bytes::complete::take};
use std::ops::Range;

#[derive(Debug, PartialEq, Eq)]
pub struct ServerKeyExchange {
    pub params: ServerKeyExchangeParams,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ServerKeyExchangeParams {
    Ecdh(EcdhParams),
    Psk(PskParams),
}

impl ServerKeyExchange {
    pub fn parse(
        input: &[u8],
        base_offset: usize,
        key_exchange_algorithm: KeyExchangeAlgorithm,
    ) -> IResult<&[u8], ServerKeyExchange> {
        let (input, params) = match key_exchange_algorithm {
            KeyExchangeAlgorithm::EECDH => {
                let (input, ecdh_params) = EcdhParams::parse(input, base_offset)?;
                (input, ServerKeyExchangeParams::Ecdh(ecdh_params))
            }
            KeyExchangeAlgorithm::PSK => {
                let (input, psk_params) = PskParams::parse(input, base_offset)?;
                (input, ServerKeyExchangeParams::Psk(psk_params))
            }
            _ => return Err(Err::Failure(Error::new(input, ErrorKind::Tag))),
        };

        Ok((input, ServerKeyExchange { params }))
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf, with_signature: bool) {
        match &self.params {
            ServerKeyExchangeParams::Ecdh(ecdh_params) => {
                ecdh_params.serialize(buf, output, with_signature)
            }
            ServerKeyExchangeParams::Psk(psk_params) => psk_params.serialize(buf, output),
        }
    }

    pub fn signature(&self) -> Option<&DigitallySigned> {
        match &self.params {
            ServerKeyExchangeParams::Ecdh(ecdh_params) => ecdh_params.signature.as_ref(),
            ServerKeyExchangeParams::Psk(_) => None,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct EcdhParams {
    pub curve_type: CurveType,
    pub named_group: NamedGroup,
    pub public_key_range: Range<usize>,
    pub signature: Option<DigitallySigned>,
}

impl EcdhParams {
    pub fn public_key<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        &buf[self.public_key_range.clone()]
    }

    pub fn parse(input: &[u8], base_offset: usize) -> IResult<&[u8], EcdhParams> {
        let original_input = input;
        let (input, curve_type) = CurveType::parse(input)?;
        let (input, named_group) = NamedGroup::parse(input)?;

        // First byte is the length of the public key
        let (input, public_key_len) = be_u8(input)?;
        let (input, public_key_slice) = take(public_key_len as usize)(input)?;

        // Calculate absolute range for public key
        let relative_offset = public_key_slice.as_ptr() as usize - original_input.as_ptr() as usize;
        let start = base_offset + relative_offset;
        let end = start + public_key_slice.len();
        let public_key_range = start..end;

        // Optionally parse a trailing DigitallySigned structure
        let (input, signature) = if !input.is_empty() {
            // Calculate absolute offset for the signature part
            let sig_offset =
                base_offset + (input.as_ptr() as usize - original_input.as_ptr() as usize);
            let (rest, signed) = DigitallySigned::parse(input, sig_offset)?;
            (rest, Some(signed))
        } else {
            (input, None)
        };

        Ok((
            input,
            EcdhParams {
                curve_type,
                named_group,
                public_key_range,
                signature,
            },
        ))
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf, with_signature: bool) {
        let public_key = self.public_key(buf);
        output.push(self.curve_type.as_u8());
        output.extend_from_slice(&self.named_group.as_u16().to_be_bytes());
        output.push(public_key.len() as u8);
        output.extend_from_slice(public_key);

        if with_signature && let Some(signed) = &self.signature {
            signed.serialize(buf, output);
        }
    }
}

/// PSK identity hint (RFC 4279 §2).
///
/// Wire format: `uint16 hint_length + hint`
#[derive(Debug, PartialEq, Eq)]
pub struct PskParams {
    pub hint_range: Range<usize>,
}

impl PskParams {
    pub fn hint<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        &buf[self.hint_range.clone()]
    }

    pub fn parse(input: &[u8], base_offset: usize) -> IResult<&[u8], PskParams> {
        let original_input = input;
        let (input, hint_len) = nom::number::complete::be_u16(input)?;
        let (input, hint_slice) = take(hint_len as usize)(input)?;

        let relative_offset = hint_slice.as_ptr() as usize - original_input.as_ptr() as usize;
        let start = base_offset + relative_offset;
        let end = start + hint_slice.len();

        Ok((
            input,
            PskParams {
                hint_range: start..end,
            },
        ))
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf) {
        let hint = self.hint(buf);
        output.extend_from_slice(&(hint.len() as u16).to_be_bytes());
        output.extend_from_slice(hint);
    }

    /// Serialize directly from hint bytes (for sending).
    pub fn serialize_from_bytes(hint: &[u8], output: &mut Buf) {
        output.extend_from_slice(&(hint.len() as u16).to_be_bytes());
        output.extend_from_slice(hint);
    }
}
