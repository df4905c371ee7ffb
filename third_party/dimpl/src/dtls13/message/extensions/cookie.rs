use nom::Err;
use nom::IResult;
use nom::error::{Error, ErrorKind};
use nom::number::complete::be_u16;

/// Parse the DTLS 1.3 Cookie extension body.
///
/// RFC 8446 defines the extension payload as `cookie<1..2^16-1>`,
/// so the extension body is a u16 length followed by exactly that many bytes.
pub(crate) fn parse_cookie_extension(input: &[u8]) -> IResult<&[u8], &[u8]> {
    if input.len() < 2 {
        return Err(Err::Failure(Error::new(input, ErrorKind::LengthValue)));
    }

    let (rest, cookie_len) = be_u16(input)?;
    if cookie_len == 0 || rest.len() != cookie_len as usize {
        return Err(Err::Failure(Error::new(input, ErrorKind::LengthValue)));
    }

    Ok((&[], rest))
}
