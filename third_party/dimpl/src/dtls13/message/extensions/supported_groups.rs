use crate::buffer::Buf;
use crate::types::NamedGroup;
use arrayvec::ArrayVec;
use nom::Err;
use nom::IResult;
use nom::bytes::complete::take;
use nom::error::{Error, ErrorKind};

/// SupportedGroups extension as defined in RFC 8422
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportedGroupsExtension {
    pub groups: ArrayVec<NamedGroup, 4>,
}

impl SupportedGroupsExtension {
    pub fn parse(input: &[u8]) -> IResult<&[u8], SupportedGroupsExtension> {
        let (input, list_len) = nom::number::complete::be_u16(input)?;
        if list_len == 0 || list_len % 2 != 0 {
            return Err(Err::Failure(Error::new(input, ErrorKind::LengthValue)));
        }

        let (input, mut current_input) = take(list_len)(input)?;
        if !input.is_empty() {
            return Err(Err::Failure(Error::new(input, ErrorKind::LengthValue)));
        }

        let mut groups: ArrayVec<NamedGroup, 4> = ArrayVec::new();

        // Parse groups; only include supported groups (skip Unknown and unsupported)
        while !current_input.is_empty() {
            let group_input = current_input;
            let (rest, group) = NamedGroup::parse(group_input)?;
            current_input = rest;
            // Only add supported groups
            if group.is_supported() {
                groups
                    .try_push(group)
                    .map_err(|_| Err::Failure(Error::new(group_input, ErrorKind::LengthValue)))?;
            }
        }

        Ok((input, SupportedGroupsExtension { groups }))
    }

    pub fn serialize(&self, output: &mut Buf) {
        // Write the total length of all groups (2 bytes per group)
        output.extend_from_slice(&((self.groups.len() * 2) as u16).to_be_bytes());

        // Write each group
        for group in &self.groups {
            output.extend_from_slice(&group.as_u16().to_be_bytes());
        }
    }
}
