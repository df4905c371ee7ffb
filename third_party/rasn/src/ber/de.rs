//! # Decoding BER

mod config;
pub(super) mod parser;

use super::identifier::Identifier;
use crate::{
    Decode,
    types::{
        self, Constraints, Enumerated, Tag,
        oid::{MAX_OID_FIRST_OCTET, MAX_OID_SECOND_OCTET},
    },
};
use alloc::{borrow::Cow, borrow::ToOwned, string::ToString, vec::Vec};
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use parser::ParseNumberError;

pub use self::config::DecoderOptions;

pub use crate::error::DecodeError;
pub use crate::error::{BerDecodeErrorKind, CodecDecodeError, DecodeErrorKind, DerDecodeErrorKind};
type Result<T, E = DecodeError> = core::result::Result<T, E>;

const EOC: &[u8] = &[0, 0];

/// A BER and variants decoder. Capable of decoding BER, CER, and DER.
pub struct Decoder<'input> {
    input: &'input [u8],
    config: DecoderOptions,
    initial_len: usize,
}

impl<'input> Decoder<'input> {
    /// Return the current codec `Codec` variant
    #[must_use]
    pub fn codec(&self) -> crate::Codec {
        self.config.current_codec()
    }
    /// Returns reference to the remaining input data that has not been parsed.
    #[must_use]
    pub fn remaining(&self) -> &'input [u8] {
        self.input
    }
    /// Create a new [`Decoder`] from the given `input` and `config`.
    #[must_use]
    pub fn new(input: &'input [u8], config: DecoderOptions) -> Self {
        Self {
            input,
            config,
            initial_len: input.len(),
        }
    }

    /// Return a number of the decoded bytes by this decoder
    #[must_use]
    pub fn decoded_len(&self) -> usize {
        self.initial_len - self.input.len()
    }
    /// Peek the value of the next tag
    pub fn peek_tag(&self) -> Result<Tag> {
        let (_, tag_ident) =
            self::parser::parse_identifier_octet(self.input).map_err(|e| match e {
                ParseNumberError::Nom(e) => {
                    DecodeError::map_nom_err(e, self.config.current_codec())
                }
                ParseNumberError::Overflow => {
                    DecodeError::integer_overflow(32u32, self.config.current_codec())
                }
            })?;
        Ok(tag_ident.tag)
    }
    /// Generic helper used by the optional decoders.
    /// The function will peek the upcoming tag and only invoke `f` when the tags match.
    /// If tags won't match or input is empty, will return `None`
    fn decode_optional_with_check<D, F>(&mut self, tag: Tag, f: F) -> Result<Option<D>, DecodeError>
    where
        F: FnOnce(&mut Self) -> Result<D, DecodeError>,
    {
        if self.input.is_empty() {
            return Ok(None);
        }
        // Special case if optional is absent and idefinite length EOC follows
        if self.input.len() >= 2 && &self.input[..2] == EOC && !self.config.encoding_rules.is_der()
        {
            return Ok(None);
        }
        if tag != Tag::EOC {
            let upcoming_tag = self.peek_tag()?;
            if tag != upcoming_tag {
                return Ok(None);
            }
        }
        Ok(Some(f(self)?))
    }

    fn parse_eoc(&mut self) -> Result<()> {
        let (i, _) = nom::bytes::streaming::tag(EOC)(self.input)
            .map_err(|e| DecodeError::map_nom_err(e, self.codec()))?;
        self.input = i;
        Ok(())
    }

    pub(crate) fn parse_value(&mut self, tag: Tag) -> Result<(Identifier, Option<&'input [u8]>)> {
        let (input, (identifier, contents)) =
            self::parser::parse_value(self.config, self.input, Some(tag))?;
        self.input = input;
        Ok((identifier, contents))
    }

    pub(crate) fn parse_primitive_value(&mut self, tag: Tag) -> Result<(Identifier, &'input [u8])> {
        let (input, (identifier, contents)) =
            self::parser::parse_value(self.config, self.input, Some(tag))?;
        self.input = input;
        match contents {
            Some(contents) => Ok((identifier, contents)),
            None => Err(BerDecodeErrorKind::IndefiniteLengthNotAllowed.into()),
        }
    }

    fn check_recursion_depth(&self) -> Result<()> {
        if self.config.remaining_depth == 0 {
            return Err(DecodeError::from_kind(
                DecodeErrorKind::ExceedsMaxParseDepth,
                self.codec(),
            ));
        }
        Ok(())
    }

    /// Parses a constructed ASN.1 value, checking the `tag`, and optionally
    /// checking if the identifier is marked as encoded. This should be true
    /// in all cases except explicit prefixes.
    fn parse_constructed_contents<D, F>(
        &mut self,
        tag: Tag,
        check_identifier: bool,
        decode_fn: F,
    ) -> Result<D>
    where
        F: FnOnce(&mut Self) -> Result<D>,
    {
        self.check_recursion_depth()?;
        let (identifier, contents) = self.parse_value(tag)?;

        BerDecodeErrorKind::assert_tag(tag, identifier.tag)?;

        if check_identifier && identifier.is_primitive() {
            return Err(BerDecodeErrorKind::InvalidConstructedIdentifier.into());
        }

        let (streaming, contents) = match contents {
            Some(contents) => (false, contents),
            None => (true, self.input),
        };

        let mut inner = Self::new(contents, self.config);
        inner.config.remaining_depth = inner.config.remaining_depth.saturating_sub(1);

        let result = (decode_fn)(&mut inner)?;

        if streaming {
            self.input = inner.input;
            self.parse_eoc()?;
        } else if !inner.input.is_empty() {
            return Err(DecodeError::unexpected_extra_data(
                inner.input.len(),
                self.codec(),
            ));
        }

        Ok(result)
    }
    /// Decode an object identifier from a byte slice in BER format.
    /// Function is public to be used by other codecs.
    pub fn decode_object_identifier_from_bytes(
        &self,
        data: &[u8],
    ) -> Result<crate::types::ObjectIdentifier, DecodeError> {
        let (mut contents, root_octets) =
            parser::parse_base128_number(data).map_err(|e| match e {
                ParseNumberError::Nom(e) => DecodeError::map_nom_err(e, self.codec()),
                ParseNumberError::Overflow => DecodeError::integer_overflow(32u32, self.codec()),
            })?;
        let first: u32;
        let second: u32;
        const MAX_OID_THRESHOLD: u32 = MAX_OID_SECOND_OCTET + 1;
        if root_octets > MAX_OID_FIRST_OCTET * MAX_OID_THRESHOLD + MAX_OID_SECOND_OCTET {
            first = MAX_OID_FIRST_OCTET;
            second = root_octets - MAX_OID_FIRST_OCTET * MAX_OID_THRESHOLD;
        } else {
            second = root_octets % MAX_OID_THRESHOLD;
            first = (root_octets - second) / MAX_OID_THRESHOLD;
        }

        // preallocate some capacity for the OID arcs, maxing out at 16 elements
        // to prevent excessive preallocation from malformed or malicious
        // packets
        let mut buffer = alloc::vec::Vec::with_capacity(core::cmp::min(contents.len() + 2, 16));
        buffer.push(first);
        buffer.push(second);

        while !contents.is_empty() {
            let (c, number) = parser::parse_base128_number(contents).map_err(|e| match e {
                ParseNumberError::Nom(e) => DecodeError::map_nom_err(e, self.codec()),
                ParseNumberError::Overflow => DecodeError::integer_overflow(32u32, self.codec()),
            })?;
            contents = c;
            buffer.push(number);
        }
        crate::types::ObjectIdentifier::new(buffer)
            .ok_or_else(|| BerDecodeErrorKind::InvalidObjectIdentifier.into())
    }
    /// Parse any GeneralizedTime string, allowing for any from ASN.1 definition
    /// TODO, move to type itself?
    pub fn parse_any_generalized_time_string(
        string: alloc::string::String,
    ) -> Result<types::GeneralizedTime, DecodeError> {
        // Reference https://obj-sys.com/asn1tutorial/node14.html
        // If data contains ., 3 decimal places of seconds are expected
        // If data contains explict Z, result is UTC
        // If data contains + or -, explicit timezone is given
        // If neither Z nor + nor -, purely local time is implied
        // Replace comma with dot for fractional seconds.
        let mut s = if string.contains(',') {
            string.replace(',', ".")
        } else {
            string
        };
        if s.ends_with("Z") {
            s.pop(); // We default to UTC
        }
        // Timezone offset markers are in static location if present
        let has_offset = s.len() >= 5 && {
            let bytes = s.as_bytes();
            bytes[s.len() - 5] == b'+' || bytes[s.len() - 5] == b'-'
        };
        let format_candidates: &[&str] = if s.contains('.') {
            if has_offset {
                &["%Y%m%d%H%M%S%.f%z", "%Y%m%d%H%M%.f%z", "%Y%m%d%H%.f%z"] // We don't know the count of fractions
            } else {
                &["%Y%m%d%H%M%S%.f", "%Y%m%d%H%M%.f", "%Y%m%d%H%.f"] // We don't know the count of fractions
            }
        } else if has_offset {
            match s.len() {
                // Length including timezone offset (YYYYMMDDHHMMSS+HHMM)
                19 => &["%Y%m%d%H%M%S%z"],
                17 => &["%Y%m%d%H%M%z"],
                15 => &["%Y%m%d%H%z"],
                _ => &["%Y%m%d%H%M%S%z", "%Y%m%d%H%M%z", "%Y%m%d%H%z"],
            }
        } else {
            // For local times without timezone, default to UTC later
            match s.len() {
                8 => &["%Y%m%d"],
                10 => &["%Y%m%d%H"],
                12 => &["%Y%m%d%H%M"],
                14 => &["%Y%m%d%H%M%S"],
                _ => &[],
            }
        };
        for fmt in format_candidates {
            if has_offset {
                if let Ok(dt) = DateTime::parse_from_str(&s, fmt) {
                    return Ok(dt);
                }
            } else if let Ok(dt) = NaiveDateTime::parse_from_str(&s, fmt) {
                return Ok(dt.and_utc().into());
            }
        }
        Err(BerDecodeErrorKind::invalid_date(s).into())
    }
    /// Enforce CER/DER restrictions defined in Section 11.7, strictly raise error on non-compliant
    pub fn parse_canonical_generalized_time_string(
        string: alloc::string::String,
    ) -> Result<types::GeneralizedTime, DecodeError> {
        let len = string.len();
        // Helper function to deal with fractions of seconds and without timezone
        let parse_without_timezone =
            |string: &str| -> core::result::Result<NaiveDateTime, DecodeError> {
                let len = string.len();
                if string.contains('.') {
                    // https://github.com/chronotope/chrono/issues/238#issuecomment-378737786
                    NaiveDateTime::parse_from_str(string, "%Y%m%d%H%M%S%.f")
                        .map_err(|_| BerDecodeErrorKind::invalid_date(string.to_string()).into())
                } else if len == 14 {
                    NaiveDateTime::parse_from_str(string, "%Y%m%d%H%M%S")
                        .map_err(|_| BerDecodeErrorKind::invalid_date(string.to_string()).into())
                } else {
                    // CER/DER encoding rules don't allow for timezone offset +/
                    // Or missing seconds/minutes/hours
                    // Or comma , instead of dot .
                    // Or local time without timezone
                    Err(BerDecodeErrorKind::invalid_date(string.to_string()).into())
                }
            };
        if string.ends_with('Z') {
            let naive = parse_without_timezone(&string[..len - 1])?;
            Ok(naive.and_utc().into())
        } else {
            Err(BerDecodeErrorKind::invalid_date(string.to_string()).into())
        }
    }
    /// Parse any UTCTime string, can be any from ASN.1 definition
    /// TODO, move to type itself?
    pub fn parse_any_utc_time_string(
        string: alloc::string::String,
    ) -> Result<types::UtcTime, DecodeError> {
        // When compared to GeneralizedTime, UTC time has no fractions.
        let len = string.len();
        // Largest string, e.g. "820102070000-0500".len() == 17
        if len > 17 {
            return Err(BerDecodeErrorKind::invalid_date(string.to_string()).into());
        }
        let format = if string.contains('Z') {
            if len == 11 {
                "%y%m%d%H%MZ"
            } else {
                "%y%m%d%H%M%SZ"
            }
        } else if len == 15 {
            "%y%m%d%H%M%z"
        } else {
            "%y%m%d%H%M%S%z"
        };
        match len {
            11 | 13 => {
                let naive = NaiveDateTime::parse_from_str(&string, format)
                    .map_err(|_| BerDecodeErrorKind::invalid_date(string.to_string()))?;
                Ok(naive.and_utc())
            }
            15 | 17 => Ok(DateTime::parse_from_str(&string, format)
                .map_err(|_| BerDecodeErrorKind::invalid_date(string.to_string()))?
                .into()),
            _ => Err(BerDecodeErrorKind::invalid_date(string.to_string()).into()),
        }
    }

    /// Enforce CER/DER restrictions defined in Section 11.8, strictly raise error on non-compliant
    pub fn parse_canonical_utc_time_string(string: &str) -> Result<types::UtcTime, DecodeError> {
        let len = string.len();
        if string.ends_with('Z') {
            let naive = match len {
                13 => NaiveDateTime::parse_from_str(string, "%y%m%d%H%M%SZ")
                    .map_err(|_| BerDecodeErrorKind::invalid_date(string.to_string()))?,
                _ => Err(BerDecodeErrorKind::invalid_date(string.to_string()))?,
            };
            Ok(naive.and_utc())
        } else {
            Err(BerDecodeErrorKind::invalid_date(string.to_string()).into())
        }
    }

    /// X.690 8.26.2 and 11.9 -> YYYYMMDD
    pub fn parse_date_string(string: &str) -> Result<types::Date, DecodeError> {
        let date = NaiveDate::parse_from_str(string, "%Y%m%d")
            .map_err(|_| BerDecodeErrorKind::invalid_date(string.to_string()))?;

        Ok(date)
    }

    fn check_size_constraint(
        len: usize,
        constraints: &Constraints,
        codec: crate::Codec,
    ) -> Result<()> {
        if let Some(size) = constraints.size()
            && size.extensible.is_none()
        {
            size.constraint.contains_or_else(&len, || {
                DecodeError::size_constraint_not_satisfied(
                    Some(len),
                    size.constraint.to_string(),
                    codec,
                )
            })?;
        }
        Ok(())
    }
}

impl<'input> crate::Decoder for Decoder<'input> {
    type Ok = ();
    type Error = DecodeError;
    type AnyDecoder<const R: usize, const E: usize> = Decoder<'input>;

    fn codec(&self) -> crate::Codec {
        Self::codec(self)
    }
    fn decode_any(&mut self, tag: Tag) -> Result<types::Any> {
        // If tag is not EOC, we are likely in sequence/set
        let tag = if tag == Tag::EOC { None } else { Some(tag) };
        // `parse_value` consumes the Tag and Length.
        // `input` is the remaining slice, starting at the beginning of the Value.
        // `contents` is `Some(value)` for definite-length, and `None` for indefinite-length.
        let (mut input, (identifier, contents)) =
            self::parser::parse_value(self.config, self.input, tag)?;

        let contents = if let Some(definitive_contents) = contents {
            definitive_contents.to_vec()
        } else {
            let (i, indefinitive_contents) = self::parser::parse_encoded_value(
                self.config,
                self.input,
                identifier.tag,
                |input, _| Ok(alloc::vec::Vec::from(input)),
            )?;
            input = i;
            indefinitive_contents
        };
        // Only the data format is validated, when not in Sequence/Set - afterwards just pass the original data.
        let any = if tag.is_none() {
            let diff = self.input.len() - input.len();
            types::Any::new(self.input[..diff].to_vec())
        } else {
            // Outermost TLV stripped in sequence/set
            types::Any::new(contents)
        };
        self.input = input;
        Ok(any)
    }

    fn decode_bool(&mut self, tag: Tag) -> Result<bool> {
        let (_, contents) = self.parse_primitive_value(tag)?;
        DecodeError::assert_length(1, contents.len(), self.codec())?;
        Ok(match contents[0] {
            0 => false,
            0xFF => true,
            _ if self.config.encoding_rules.is_ber() => true,
            _ => {
                return Err(DecodeError::from_kind(
                    DecodeErrorKind::InvalidBool { value: contents[0] },
                    self.codec(),
                ));
            }
        })
    }

    fn decode_enumerated<E: Enumerated>(&mut self, tag: Tag) -> Result<E> {
        let discriminant = self.decode_integer::<isize>(tag, Constraints::default())?;

        E::from_discriminant(discriminant)
            .ok_or_else(|| DecodeError::discriminant_value_not_found(discriminant, self.codec()))
    }

    fn decode_integer<I: types::IntegerType>(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<I> {
        let primitive_bytes = self.parse_primitive_value(tag)?.1;
        let integer_width = I::WIDTH as usize / 8;
        let result = if primitive_bytes.len() > integer_width {
            // in the case of superfluous leading bytes (especially zeroes),
            // we may still want to try to decode the integer even though
            // the length is > integer width ...
            let leading_byte = if primitive_bytes[0] & 0x80 == 0x80 {
                0xFF
            } else {
                0x00
            };
            let input_iter = primitive_bytes
                .iter()
                .copied()
                .skip_while(|n| *n == leading_byte);
            let data_length = input_iter.clone().count();
            I::try_from_bytes(
                &primitive_bytes[primitive_bytes.len() - data_length..primitive_bytes.len()],
                self.codec(),
            )?
        } else {
            I::try_from_bytes(primitive_bytes, self.codec())?
        };

        if let Some(value) = constraints.value()
            && value.extensible.is_none()
            && !value.constraint.in_bound(&result)
        {
            return Err(DecodeError::value_constraint_not_satisfied(
                result.to_bigint().unwrap_or_default(),
                value.constraint.value,
                self.codec(),
            ));
        }

        Ok(result)
    }

    fn decode_real<R: types::RealType>(
        &mut self,
        _: Tag,
        _: Constraints,
    ) -> Result<R, Self::Error> {
        Err(DecodeError::real_not_supported(self.codec()))
    }

    fn decode_octet_string<'b, T: From<&'b [u8]> + From<Vec<u8>>>(
        &'b mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<T> {
        let (identifier, contents) = self.parse_value(tag)?;

        if identifier.is_primitive() {
            match contents {
                Some(c) => {
                    Self::check_size_constraint(c.len(), &constraints, self.codec())?;
                    Ok(T::from(c))
                }
                None => Err(BerDecodeErrorKind::IndefiniteLengthNotAllowed.into()),
            }
        } else if identifier.is_constructed() && self.config.encoding_rules.is_der() {
            Err(DerDecodeErrorKind::ConstructedEncodingNotAllowed.into())
        } else {
            let mut buffer = Vec::new();

            if let Some(mut contents) = contents {
                while !contents.is_empty() {
                    let (c, mut vec) = self::parser::parse_encoded_value(
                        self.config,
                        contents,
                        Tag::OCTET_STRING,
                        |input, _| Ok(alloc::vec::Vec::from(input)),
                    )?;
                    contents = c;

                    buffer.append(&mut vec);
                }
            } else {
                while !self.input.starts_with(EOC) {
                    let (c, mut vec) = self::parser::parse_encoded_value(
                        self.config,
                        self.input,
                        Tag::OCTET_STRING,
                        |input, _| Ok(alloc::vec::Vec::from(input)),
                    )?;
                    self.input = c;

                    buffer.append(&mut vec);
                }

                self.parse_eoc()?;
            }
            Self::check_size_constraint(buffer.len(), &constraints, self.codec())?;
            Ok(T::from(buffer))
        }
    }

    fn decode_null(&mut self, tag: Tag) -> Result<()> {
        let (_, contents) = self.parse_primitive_value(tag)?;
        DecodeError::assert_length(0, contents.len(), self.codec())?;
        Ok(())
    }

    fn decode_object_identifier(&mut self, tag: Tag) -> Result<crate::types::ObjectIdentifier> {
        let contents = self.parse_primitive_value(tag)?.1;
        self.decode_object_identifier_from_bytes(contents)
    }

    fn decode_bit_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::BitString> {
        let (input, bs) =
            self::parser::parse_encoded_value(self.config, self.input, tag, |input, codec| {
                let unused_bits = input
                    .first()
                    .copied()
                    .ok_or(DecodeError::unexpected_empty_input(codec))?;

                match unused_bits {
                    // TODO: https://github.com/myrrlyn/bitvec/issues/72
                    bits @ 0..=7 => {
                        let mut buffer = input[1..].to_owned();
                        if let Some(last) = buffer.last_mut() {
                            *last &= !((1 << bits) - 1);
                        }

                        let mut string = types::BitString::from_vec(buffer);
                        let bit_length = string
                            .len()
                            .checked_sub(bits as usize)
                            .ok_or_else(|| DecodeError::invalid_bit_string(unused_bits, codec))?;
                        string.truncate(bit_length);

                        Ok(string)
                    }
                    _ => Err(DecodeError::invalid_bit_string(unused_bits, codec)),
                }
            })?;

        self.input = input;
        Self::check_size_constraint(bs.len(), &constraints, self.codec())?;
        Ok(bs)
    }

    fn decode_visible_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::VisibleString, Self::Error> {
        types::VisibleString::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_ia5_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::Ia5String> {
        types::Ia5String::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_printable_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::PrintableString> {
        types::PrintableString::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_numeric_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::NumericString> {
        types::NumericString::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_teletex_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::TeletexString> {
        types::TeletexString::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_bmp_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::BmpString> {
        types::BmpString::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_utf8_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::Utf8String> {
        let vec = self.decode_octet_string(tag, constraints)?;
        types::Utf8String::from_utf8(vec).map_err(|e| {
            DecodeError::string_conversion_failed(
                types::Tag::UTF8_STRING,
                e.to_string(),
                self.codec(),
            )
        })
    }

    fn decode_general_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::GeneralString> {
        <types::GeneralString>::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_graphic_string(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::GraphicString> {
        <types::GraphicString>::try_from(
            self.decode_octet_string::<Cow<[u8]>>(tag, constraints)?
                .as_ref(),
        )
        .map_err(|e| DecodeError::permitted_alphabet_error(e, self.codec()))
    }

    fn decode_generalized_time(&mut self, tag: Tag) -> Result<types::GeneralizedTime> {
        let string = self.decode_utf8_string(tag, Constraints::default())?;
        if self.config.encoding_rules.is_ber() {
            Self::parse_any_generalized_time_string(string)
        } else {
            Self::parse_canonical_generalized_time_string(string)
        }
    }

    fn decode_utc_time(&mut self, tag: Tag) -> Result<types::UtcTime> {
        // Reference https://obj-sys.com/asn1tutorial/node15.html
        let string = self.decode_utf8_string(tag, Constraints::default())?;
        if self.config.encoding_rules.is_ber() {
            Self::parse_any_utc_time_string(string)
        } else {
            Self::parse_canonical_utc_time_string(&string)
        }
    }

    fn decode_date(&mut self, tag: Tag) -> core::result::Result<types::Date, Self::Error> {
        let string = self.decode_utf8_string(tag, Constraints::default())?;
        Self::parse_date_string(&string)
    }

    fn decode_sequence_of<D: Decode>(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<Vec<D>, Self::Error> {
        let items = self.parse_constructed_contents(tag, true, |decoder| {
            decoder.config.remaining_depth = decoder.config.remaining_depth.saturating_sub(1);
            let mut items = Vec::new();

            if decoder.input.is_empty() {
                return Ok(items);
            }

            loop {
                match D::decode(decoder) {
                    Ok(item) => {
                        items.push(item);
                        if decoder.input.is_empty() {
                            return Ok(items);
                        }
                    }
                    Err(e) => {
                        if e.matches_root_cause(|kind| {
                            matches!(kind, DecodeErrorKind::ExceedsMaxParseDepth)
                        }) {
                            return Err(e);
                        }
                        break;
                    }
                }
            }

            Ok(items)
        })?;
        Self::check_size_constraint(items.len(), &constraints, self.codec())?;
        Ok(items)
    }

    fn decode_set_of<D: Decode + Eq + core::hash::Hash>(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<types::SetOf<D>, Self::Error> {
        let items = self.parse_constructed_contents(tag, true, |decoder| {
            decoder.config.remaining_depth = decoder.config.remaining_depth.saturating_sub(1);
            let mut items = types::SetOf::new();

            loop {
                match D::decode(decoder) {
                    Ok(item) => {
                        items.insert(item);
                    }
                    Err(e) => {
                        if e.matches_root_cause(|kind| {
                            matches!(kind, DecodeErrorKind::ExceedsMaxParseDepth)
                        }) {
                            return Err(e);
                        }
                        break;
                    }
                }
            }

            Ok(items)
        })?;
        Self::check_size_constraint(items.len(), &constraints, self.codec())?;
        Ok(items)
    }

    fn decode_sequence<
        const RC: usize,
        const EC: usize,
        D: crate::types::Constructed<RC, EC>,
        DF: FnOnce() -> D,
        F: FnOnce(&mut Self) -> Result<D>,
    >(
        &mut self,
        tag: Tag,
        default_initializer_fn: Option<DF>,
        decode_fn: F,
    ) -> Result<D> {
        self.parse_constructed_contents(tag, true, |decoder| {
            // If there are no fields, or the input is empty and we know that
            // all fields are optional or default fields, we call the default
            // initializer and skip calling the decode function at all.
            if D::FIELDS.is_empty() && D::EXTENDED_FIELDS.is_none()
                || (D::FIELDS.len() == D::FIELDS.number_of_optional_and_default_fields()
                    && decoder.input.is_empty())
            {
                if let Some(default_initializer_fn) = default_initializer_fn {
                    return Ok((default_initializer_fn)());
                }
                return Err(DecodeError::from_kind(
                    DecodeErrorKind::UnexpectedEmptyInput,
                    decoder.codec(),
                ));
            }
            (decode_fn)(decoder)
        })
    }

    fn decode_explicit_prefix<D: Decode>(&mut self, tag: Tag) -> Result<D> {
        self.parse_constructed_contents(tag, false, D::decode)
    }
    fn decode_optional_with_explicit_prefix<D: Decode>(
        &mut self,
        tag: Tag,
    ) -> Result<Option<D>, Self::Error> {
        self.decode_explicit_prefix(tag)
            .map(Some)
            .or_else(|_| Ok(None))
    }

    fn decode_set<const RL: usize, const EL: usize, FIELDS, SET, D, F>(
        &mut self,
        tag: Tag,
        _decode_fn: D,
        field_fn: F,
    ) -> Result<SET, Self::Error>
    where
        SET: Decode + crate::types::Constructed<RL, EL>,
        FIELDS: Decode,
        D: Fn(&mut Self, usize, Tag) -> Result<FIELDS, Self::Error>,
        F: FnOnce(Vec<FIELDS>) -> Result<SET, Self::Error>,
    {
        self.parse_constructed_contents(tag, true, |decoder| {
            let mut fields = Vec::new();

            loop {
                match FIELDS::decode(decoder) {
                    Ok(value) => fields.push(value),
                    Err(e) => {
                        if e.matches_root_cause(|kind| {
                            matches!(kind, DecodeErrorKind::ExceedsMaxParseDepth)
                        }) {
                            return Err(e);
                        }
                        break;
                    }
                }
            }

            (field_fn)(fields)
        })
    }

    fn decode_optional<D: Decode>(&mut self) -> Result<Option<D>, Self::Error> {
        self.decode_optional_with_check(D::TAG, |decoder| D::decode(decoder))
    }

    /// Decode the optional value in a `SEQUENCE` or `SET` with `tag`.
    /// Passing the correct tag is required even when used with codecs where
    /// the tag is not present.
    fn decode_optional_with_tag<D: Decode>(&mut self, tag: Tag) -> Result<Option<D>, Self::Error> {
        self.decode_optional_with_check(tag, |decoder| D::decode_with_tag(decoder, tag))
    }

    fn decode_optional_with_constraints<D: Decode>(
        &mut self,
        constraints: Constraints,
    ) -> Result<Option<D>, Self::Error> {
        self.decode_optional_with_check(D::TAG, |decoder| {
            D::decode_with_constraints(decoder, constraints)
        })
    }

    fn decode_optional_with_tag_and_constraints<D: Decode>(
        &mut self,
        tag: Tag,
        constraints: Constraints,
    ) -> Result<Option<D>, Self::Error> {
        self.decode_optional_with_check(tag, |decoder| {
            D::decode_with_tag_and_constraints(decoder, tag, constraints)
        })
    }

    fn decode_choice<D>(&mut self, _: Constraints) -> Result<D, Self::Error>
    where
        D: crate::types::DecodeChoice,
    {
        let (_, identifier) = parser::parse_identifier_octet(self.input).map_err(|e| match e {
            ParseNumberError::Nom(e) => DecodeError::map_nom_err(e, self.codec()),
            ParseNumberError::Overflow => DecodeError::integer_overflow(32u32, self.codec()),
        })?;
        D::from_tag(self, identifier.tag)
    }

    fn decode_extension_addition_with_explicit_tag_and_constraints<D>(
        &mut self,
        tag: Tag,
        _constraints: Constraints,
    ) -> core::result::Result<Option<D>, Self::Error>
    where
        D: Decode,
    {
        self.decode_explicit_prefix(tag).map(Some)
    }

    fn decode_extension_addition_with_tag_and_constraints<D>(
        &mut self,
        tag: Tag,
        // Constraints are irrelevant using BER
        _: Constraints,
    ) -> core::result::Result<Option<D>, Self::Error>
    where
        D: Decode,
    {
        <Option<D>>::decode_with_tag(self, tag)
    }

    fn decode_extension_addition_group<
        const RL: usize,
        const EL: usize,
        D: Decode + crate::types::Constructed<RL, EL>,
    >(
        &mut self,
    ) -> Result<Option<D>, Self::Error> {
        <Option<D>>::decode(self)
    }
}
