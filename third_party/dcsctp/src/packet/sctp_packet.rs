// Copyright 2025 The dcSCTP Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     https://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

use crate::api::Options;
use crate::api::ZERO_CHECKSUM_ALTERNATE_ERROR_DETECTION_METHOD_NONE;
use crate::math::is_divisible_by_4;
use crate::math::round_down_to_4;
use crate::math::round_up_to_4;
use crate::packet::AsSerializableTlv;
use crate::packet::ChunkParseError;
use crate::packet::chunk::Chunk;
use crate::packet::chunk::RawChunk;
use crate::packet::crc32c::Crc32c;
use crate::packet::ensure;
use crate::packet::read_u16_be;
use crate::packet::read_u32_be;
use crate::packet::write_u16_be;
use crate::packet::write_u32_be;
use thiserror::Error;

pub const COMMON_HEADER_SIZE: usize = 12;
const CHUNK_TLV_SIZE: usize = 4;

/// A sensible limit of how large packets that can be received. The real value is much lower, as
/// SCTP over DTLS over IPv6 (without fragmentation) usually brings the value down to a little over
/// 1000 bytes. This value is just to avoid malicious usage.
const MAX_PACKET_SIZE: usize = 65535;

/// SCTP common header
///
/// See <https://datatracker.ietf.org/doc/html/rfc9260#section-3.1>.
///
/// ```txt
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      Source Port Number       |    Destination Port Number    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Verification Tag                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           Checksum                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
pub(crate) struct CommonHeader {
    pub source_port: u16,
    pub destination_port: u16,
    pub verification_tag: u32,
    pub checksum: u32,
}

pub(crate) struct SctpPacket {
    pub common_header: CommonHeader,
    pub chunks: Vec<Chunk>,
}

#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub(crate) enum PacketParseError {
    #[error("Invalid packet size")]
    InvalidPacketSize,
    #[error("Invalid packet checksum")]
    InvalidChecksum,
    #[error("Invalid chunk size")]
    InvalidChunkSize,
    #[error("Failed to parse chunk")]
    FailedParseChunk(ChunkParseError),
}

impl From<ChunkParseError> for PacketParseError {
    fn from(e: ChunkParseError) -> Self {
        Self::FailedParseChunk(e)
    }
}

impl SctpPacket {
    pub fn from_bytes(data: &[u8], options: &Options) -> Result<SctpPacket, PacketParseError> {
        ensure!(
            data.len() >= COMMON_HEADER_SIZE + CHUNK_TLV_SIZE && data.len() <= MAX_PACKET_SIZE,
            PacketParseError::InvalidPacketSize
        );

        let common_header = CommonHeader {
            source_port: read_u16_be!(&data[0..2]),
            destination_port: read_u16_be!(&data[2..4]),
            verification_tag: read_u32_be!(&data[4..8]),
            checksum: read_u32_be!(&data[8..12]),
        };

        if options.disable_checksum_verification
            || (options.zero_checksum_alternate_error_detection_method
                != ZERO_CHECKSUM_ALTERNATE_ERROR_DETECTION_METHOD_NONE
                && common_header.checksum == 0)
        {
            // From <https://datatracker.ietf.org/doc/html/rfc9653#section-5.3-1>:
            //
            //   If an endpoint has sent the Zero Checksum Acceptable Chunk Parameter indicating the
            //   support of an alternate error detection method in an INIT or INIT ACK chunk, in
            //   addition to SCTP packets containing the correct CRC32c checksum value it MUST
            //   accept SCTP packets that have an incorrect checksum value of zero and that fulfill
            //   the requirements of the announced alternate error detection method used for this
            //   association.
        } else {
            const FOUR_ZEROES: &[u8] = &[0, 0, 0, 0];
            // Verify the checksum. The checksum field must be zero when that's done.
            let mut crc = Crc32c::new();
            crc.digest(&data[0..8]);
            crc.digest(FOUR_ZEROES);
            crc.digest(&data[12..]);
            let checksum = crc.value().to_be();
            ensure!(checksum == common_header.checksum, PacketParseError::InvalidChecksum);
        }

        let mut chunks: Vec<Chunk> = Vec::with_capacity(4);
        let mut remaining = &data[COMMON_HEADER_SIZE..];

        while !remaining.is_empty() {
            let (raw, next_remaining) = RawChunk::from_bytes(remaining)?;
            let chunk = Chunk::try_from(raw)?;
            chunks.push(chunk);

            remaining = next_remaining;
        }

        Ok(SctpPacket { common_header, chunks })
    }
}

pub(crate) struct SctpPacketBuilder {
    verification_tag: u32,
    source_port: u16,
    dest_port: u16,
    max_packet_size: usize,
    write_checksum: bool,
    data: Vec<u8>,
}

impl SctpPacketBuilder {
    pub(crate) fn new(
        verification_tag: u32,
        source_port: u16,
        dest_port: u16,
        max_packet_size: usize,
    ) -> Self {
        Self {
            verification_tag,
            source_port,
            dest_port,
            max_packet_size: round_down_to_4!(max_packet_size),
            write_checksum: true,
            data: vec![],
        }
    }

    pub(crate) fn write_checksum(&mut self, enable: bool) -> &mut Self {
        self.write_checksum = enable;
        self
    }

    pub(crate) fn add(&mut self, chunk: &Chunk) -> &mut Self {
        if self.data.is_empty() {
            self.data.reserve(self.max_packet_size);
            self.data.resize(COMMON_HEADER_SIZE, 0);
            write_u16_be!(&mut self.data[0..2], self.source_port);
            write_u16_be!(&mut self.data[2..4], self.dest_port);
            write_u32_be!(&mut self.data[4..8], self.verification_tag);
            // Checksum is at offset 8 - written when calling `build()`.
        }
        debug_assert!(is_divisible_by_4!(self.data.len()));

        let chunk_offset = self.data.len();
        let chunk_size = chunk.as_serializable().serialized_size();
        let new_len = round_up_to_4!(self.data.len() + chunk_size);
        debug_assert!(
            new_len <= self.max_packet_size,
            "packet too large: {} > {}",
            new_len,
            self.max_packet_size
        );
        if new_len > self.max_packet_size {
            return self;
        }

        self.data.resize(new_len, 0);
        chunk
            .as_serializable()
            .serialize_to(&mut self.data[chunk_offset..chunk_offset + chunk_size]);
        debug_assert!(is_divisible_by_4!(self.data.len()));
        self
    }

    pub fn bytes_remaining(&self) -> usize {
        if self.data.is_empty() {
            // The common packet header hasn't been written yet.
            return self.max_packet_size.saturating_sub(COMMON_HEADER_SIZE);
        }
        self.max_packet_size.saturating_sub(self.data.len())
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub fn build(&mut self) -> Vec<u8> {
        let mut out = Vec::<u8>::new();
        if self.write_checksum && !self.data.is_empty() {
            let mut crc = Crc32c::new();
            crc.digest(&self.data);
            let checksum = crc.value().to_be();
            write_u32_be!(&mut self.data[8..12], checksum);
        }
        std::mem::swap(&mut self.data, &mut out);
        out
    }
}
