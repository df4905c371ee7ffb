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

use crate::packet::ChunkParseError;
use crate::packet::SerializableTlv;
use crate::packet::chunk::RawChunk;
use crate::packet::chunk::write_chunk_header;
use crate::packet::ensure;
use crate::packet::error_causes::ErrorCause;
use crate::packet::error_causes::error_cause_from_bytes;
use crate::packet::parameter::parameters_serialize_to;
use crate::packet::parameter::parameters_serialized_size;
use std::fmt;

pub(crate) const CHUNK_TYPE: u8 = 6;

/// Abort (ABORT) chunk
///
/// See <https://datatracker.ietf.org/doc/html/rfc9260#section-3.3.7>.
///
/// ```txt
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   Type = 6    |  Reserved   |T|            Length             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// \                                                               \
/// /                   zero or more Error Causes                   /
/// \                                                               \
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Debug, Default)]
pub struct AbortChunk {
    pub tag_reflected: bool,
    pub error_causes: Vec<ErrorCause>,
}

impl TryFrom<RawChunk<'_>> for AbortChunk {
    type Error = ChunkParseError;

    fn try_from(raw: RawChunk<'_>) -> Result<Self, ChunkParseError> {
        ensure!(raw.typ == CHUNK_TYPE, ChunkParseError::InvalidType);

        let error_causes = error_cause_from_bytes(raw.value)?;
        let tag_reflected = (raw.flags & 0x01) != 0;
        Ok(Self { tag_reflected, error_causes })
    }
}

impl SerializableTlv for AbortChunk {
    fn serialize_to(&self, output: &mut [u8]) {
        let flags = if self.tag_reflected { 1 } else { 0 };
        let value = write_chunk_header(CHUNK_TYPE, flags, self.value_size(), output);
        parameters_serialize_to(&self.error_causes, value);
    }

    fn value_size(&self) -> usize {
        parameters_serialized_size(&self.error_causes)
    }
}

impl fmt::Display for AbortChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ABORT, tag_reflected={}", self.tag_reflected)
    }
}
