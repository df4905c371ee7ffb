use super::KeyExchangeAlgorithm;
use super::{CurveType, NamedGroup};
use crate::buffer::Buf;
use nom::bytes::complete::take;
use nom::error::Error;
use nom::number::complete::be_u8;
use nom::{Err, IResult};
use std::ops::Range;

#[derive(Debug, PartialEq, Eq)]
pub struct ClientKeyExchange {
    pub exchange_keys: ExchangeKeys,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ExchangeKeys {
    Ecdh(ClientEcdhKeys),
    Psk(ClientPskKeys),
}

/// ECDHE key exchange parameters
#[derive(Debug, PartialEq, Eq)]
pub struct ClientEcdhKeys {
    pub curve_type: CurveType,
    pub named_group: NamedGroup,
    pub public_key_range: Range<usize>,
}

impl ClientEcdhKeys {
    pub fn parse(input: &[u8], base_offset: usize) -> IResult<&[u8], ClientEcdhKeys> {
        let original_input = input;
        let (input, public_key_length) = be_u8(input)?;
        let (input, public_key_slice) = take(public_key_length)(input)?;

        // Calculate absolute range in root buffer
        let relative_offset = public_key_slice.as_ptr() as usize - original_input.as_ptr() as usize;
        let start = base_offset + relative_offset;
        let end = start + public_key_slice.len();

        Ok((
            input,
            ClientEcdhKeys {
                // In ClientKeyExchange, we don't include curve_type and named_group
                // since they're already established during ServerKeyExchange
                curve_type: CurveType::NamedCurve,  // Default
                named_group: NamedGroup::Secp256r1, // Default
                public_key_range: start..end,
            },
        ))
    }

    pub fn public_key<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        &buf[self.public_key_range.clone()]
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf) {
        // For client key exchange, we only need to include the public key length and value
        // The curve_type and named_group are already established during ServerKeyExchange
        let public_key = self.public_key(buf);
        output.push(public_key.len() as u8);
        output.extend_from_slice(public_key);
    }
}

impl ClientKeyExchange {
    pub fn parse(
        input: &[u8],
        base_offset: usize,
        key_exchange_algorithm: KeyExchangeAlgorithm,
    ) -> IResult<&[u8], ClientKeyExchange> {
        let (input, exchange_keys) = match key_exchange_algorithm {
            KeyExchangeAlgorithm::EECDH => {
                let (input, ecdh_keys) = ClientEcdhKeys::parse(input, base_offset)?;
                (input, ExchangeKeys::Ecdh(ecdh_keys))
            }
            KeyExchangeAlgorithm::PSK => {
                let (input, psk_keys) = ClientPskKeys::parse(input, base_offset)?;
                (input, ExchangeKeys::Psk(psk_keys))
            }
            _ => return Err(Err::Failure(Error::new(input, nom::error::ErrorKind::Tag))),
        };

        Ok((input, ClientKeyExchange { exchange_keys }))
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf) {
        match &self.exchange_keys {
            ExchangeKeys::Ecdh(ecdh_keys) => ecdh_keys.serialize(buf, output),
            ExchangeKeys::Psk(psk_keys) => psk_keys.serialize(buf, output),
        }
    }

    /// Helper to serialize directly from public key bytes (for sending)
    pub fn serialize_from_bytes(public_key: &[u8], output: &mut Buf) {
        output.push(public_key.len() as u8);
        output.extend_from_slice(public_key);
    }
}

/// PSK identity sent by the client (RFC 4279 §2).
///
/// Wire format: `uint16 identity_length + identity`
#[derive(Debug, PartialEq, Eq)]
pub struct ClientPskKeys {
    pub identity_range: Range<usize>,
}

impl ClientPskKeys {
    pub fn identity<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        &buf[self.identity_range.clone()]
    }

    pub fn parse(input: &[u8], base_offset: usize) -> IResult<&[u8], ClientPskKeys> {
        let original_input = input;
        let (input, identity_len) = nom::number::complete::be_u16(input)?;
        let (input, identity_slice) = take(identity_len as usize)(input)?;

        let relative_offset = identity_slice.as_ptr() as usize - original_input.as_ptr() as usize;
        let start = base_offset + relative_offset;
        let end = start + identity_slice.len();

        Ok((
            input,
            ClientPskKeys {
                identity_range: start..end,
            },
        ))
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf) {
        let identity = self.identity(buf);
        output.extend_from_slice(&(identity.len() as u16).to_be_bytes());
        output.extend_from_slice(identity);
    }

    /// Serialize directly from identity bytes (for sending).
    pub fn serialize_from_bytes(identity: &[u8], output: &mut Buf) {
        output.extend_from_slice(&(identity.len() as u16).to_be_bytes());
        output.extend_from_slice(identity);
    }
}
