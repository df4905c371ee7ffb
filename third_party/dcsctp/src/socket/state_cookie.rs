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

use crate::api::CookieMac;
use crate::api::ZeroChecksumAlternateErrorDetectionMethod;
use crate::packet::read_u16_be;
use crate::packet::read_u32_be;
use crate::packet::read_u64_be;
use crate::packet::write_u16_be;
use crate::packet::write_u32_be;
use crate::packet::write_u64_be;
use crate::socket::capabilities::Capabilities;
use crate::types::Tsn;

const COOKIE_SIZE: usize = 48;
const HEAD_SIZE: usize = 8;

pub struct StateCookie {
    pub peer_tag: u32,
    pub my_tag: u32,
    pub peer_initial_tsn: Tsn,
    pub my_initial_tsn: Tsn,
    pub a_rwnd: u32,
    pub tie_tag: u64,
    pub peer_capabilities: Capabilities,
}

impl StateCookie {
    pub fn from_bytes(data: &[u8], mac: Option<&CookieMac>) -> Result<Self, &'static str> {
        if data.len() != COOKIE_SIZE {
            return Err("Invalid state cookie size");
        }

        // All bytes are compared, so that the time does not tell how many are right.
        let is_ours = |ago| {
            let expected = head(mac, &data[HEAD_SIZE..], ago);
            let differing = expected.iter().zip(data).fold(0, |all, (a, b)| all | (a ^ b));
            std::hint::black_box(differing) == 0
        };
        if !(0..2).any(is_ours) {
            return Err("Invalid state cookie");
        }

        let peer_tag = read_u32_be!(&data[8..12]);
        let my_tag = read_u32_be!(&data[12..16]);
        if peer_tag == 0 || my_tag == 0 {
            return Err("Invalid verification tag in state cookie");
        }

        Ok(StateCookie {
            peer_tag,
            my_tag,
            peer_initial_tsn: Tsn(read_u32_be!(&data[16..20])),
            my_initial_tsn: Tsn(read_u32_be!(&data[20..24])),
            a_rwnd: read_u32_be!(&data[24..28]),
            tie_tag: read_u64_be!(&data[28..36]),
            peer_capabilities: Capabilities {
                partial_reliability: data[36] != 0,
                message_interleaving: data[37] != 0,
                reconfig: data[38] != 0,
                zero_checksum_method: ZeroChecksumAlternateErrorDetectionMethod(read_u32_be!(
                    &data[40..44]
                )),
                negotiated_maximum_incoming_streams: read_u16_be!(&data[44..46]),
                negotiated_maximum_outgoing_streams: read_u16_be!(&data[46..48]),
            },
        })
    }

    pub fn serialize(&self, mac: Option<&CookieMac>) -> Vec<u8> {
        let mut data: Vec<u8> = vec![0; COOKIE_SIZE];
        write_u32_be!(&mut data[8..12], self.peer_tag);
        write_u32_be!(&mut data[12..16], self.my_tag);
        write_u32_be!(&mut data[16..20], self.peer_initial_tsn.0);
        write_u32_be!(&mut data[20..24], self.my_initial_tsn.0);
        write_u32_be!(&mut data[24..28], self.a_rwnd);
        write_u64_be!(&mut data[28..36], self.tie_tag);
        data[36] = self.peer_capabilities.partial_reliability as u8;
        data[37] = self.peer_capabilities.message_interleaving as u8;
        data[38] = self.peer_capabilities.reconfig as u8;
        data[39] = 0; // padding
        write_u32_be!(&mut data[40..44], self.peer_capabilities.zero_checksum_method.0);
        write_u16_be!(
            &mut data[44..46],
            self.peer_capabilities.negotiated_maximum_incoming_streams
        );
        write_u16_be!(
            &mut data[46..48],
            self.peer_capabilities.negotiated_maximum_outgoing_streams
        );
        let head = head(mac, &data[HEAD_SIZE..], 0);
        data[..HEAD_SIZE].copy_from_slice(&head);

        data
    }
}

/// What a cookie begins with: proof that it was made here, or a constant.
fn head(mac: Option<&CookieMac>, data: &[u8], ago: u64) -> [u8; HEAD_SIZE] {
    mac.map_or(*b"dcSCTPr0", |mac| mac(data, ago))
}
