// Copyright 2026 The dcSCTP Authors
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

// CRC-32C polynomial in reversed bit order.
const CRC32C_POLY: u32 = 0x82F63B78;

const fn generate_tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut i = 0;

    // Generate the first table (for single byte processing).
    while i < 256 {
        let mut crc = i as u32;
        let mut j = 0;
        while j < 8 {
            if (crc & 1) != 0 {
                crc = (crc >> 1) ^ CRC32C_POLY;
            } else {
                crc >>= 1;
            }
            j += 1;
        }
        tables[0][i] = crc;
        i += 1;
    }

    // Generate subsequent tables (for 8 bytes at a time).
    let mut k = 1;
    while k < 8 {
        let mut i = 0;
        while i < 256 {
            let prev = tables[k - 1][i];
            tables[k][i] = (prev >> 8) ^ tables[0][(prev & 0xff) as usize];
            i += 1;
        }
        k += 1;
    }
    tables
}

const CRC32C_LOOKUP_TABLE: [[u32; 256]; 8] = generate_tables();

/// CRC-32C (Castagnoli) checksum algorithm.
///
/// This implementation uses the **Castagnoli** polynomial, which is distinct from the standard
/// CRC-32 (ISO 3309).
pub struct Crc32c(u32);

impl Crc32c {
    pub fn new() -> Self {
        Self(0xffffffff)
    }

    pub fn digest(&mut self, data: &[u8]) {
        let mut crc = self.0;
        let (chunks, remainder) = data.as_chunks::<8>();

        // Process 8 bytes at a time.
        for &chunk in chunks {
            let current_chunk = u64::from_le_bytes(chunk);
            let idx = (crc as u64) ^ current_chunk;

            crc = CRC32C_LOOKUP_TABLE[7][(idx as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[6][((idx >> 8) as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[5][((idx >> 16) as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[4][((idx >> 24) as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[3][((idx >> 32) as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[2][((idx >> 40) as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[1][((idx >> 48) as u8) as usize]
                ^ CRC32C_LOOKUP_TABLE[0][((idx >> 56) as u8) as usize];
        }

        // Process remaining bytes.
        for &byte in remainder {
            crc = (crc >> 8) ^ CRC32C_LOOKUP_TABLE[0][((crc ^ byte as u32) & 0xff) as usize];
        }

        self.0 = crc;
    }

    pub fn value(&self) -> u32 {
        !self.0
    }
}
