use super::DigitallySigned;
use crate::buffer::Buf;
use nom::IResult;

#[derive(Debug, PartialEq, Eq)]
pub struct CertificateVerify {
    pub signed: DigitallySigned,
}

impl CertificateVerify {
    pub fn parse(input: &[u8], base_offset: usize) -> IResult<&[u8], CertificateVerify> {
        let (input, signed) = DigitallySigned::parse(input, base_offset)?;
        Ok((input, CertificateVerify { signed }))
    }

    pub fn serialize(&self, buf: &[u8], output: &mut Buf) {
        self.signed.serialize(buf, output);
    }
}
