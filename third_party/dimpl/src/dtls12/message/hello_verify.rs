use super::ProtocolVersion;
use super::id::Cookie;
use crate::buffer::Buf;
use nom::IResult;
use nom::error::{Error, ErrorKind};

#[derive(Debug, PartialEq, Eq)]
pub struct HelloVerifyRequest {
    pub server_version: ProtocolVersion,
    pub cookie: Cookie,
}

impl HelloVerifyRequest {
    pub fn new(server_version: ProtocolVersion, cookie: Cookie) -> Self {
        HelloVerifyRequest {
            server_version,
            cookie,
        }
    }

    pub fn parse(input: &[u8]) -> IResult<&[u8], HelloVerifyRequest> {
        let (input, server_version) = ProtocolVersion::parse(input)?;
        let (input, cookie) = Cookie::parse(input)?;

        if cookie.is_empty() {
            return Err(nom::Err::Failure(Error::new(input, ErrorKind::LengthValue)));
        }

        Ok((
            input,
            HelloVerifyRequest {
                server_version,
                cookie,
            },
        ))
    }

    pub fn serialize(&self, output: &mut Buf) {
        output.extend_from_slice(&self.server_version.as_u16().to_be_bytes());
        output.push(self.cookie.len() as u8);
        output.extend_from_slice(&self.cookie);
    }
}
