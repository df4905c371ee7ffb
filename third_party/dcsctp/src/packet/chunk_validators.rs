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

use crate::packet::sack_chunk::SackChunk;
use std::cmp::max;

pub fn validate_sack(sack: &SackChunk) -> bool {
    if sack.gap_ack_blocks.is_empty() {
        return true;
    }

    // Ensure that gap-ack-blocks are sorted, has an "end" that is not before "start" and are
    // non-overlapping and non-adjacent.
    let mut prev_end = 0;
    for gap_ack_block in &sack.gap_ack_blocks {
        if gap_ack_block.end < gap_ack_block.start
            || (gap_ack_block.start as u32) <= (prev_end as u32 + 1)
        {
            return false;
        }
        prev_end = gap_ack_block.end;
    }
    true
}

pub fn clean_sack(sack: SackChunk) -> SackChunk {
    if validate_sack(&sack) {
        return sack;
    }

    // First, filter out invalid ranges.
    let mut gap_ack_blocks: Vec<_> =
        sack.gap_ack_blocks.into_iter().filter(|block| block.end >= block.start).collect();

    if gap_ack_blocks.len() <= 1 {
        return SackChunk {
            cumulative_tsn_ack: sack.cumulative_tsn_ack,
            a_rwnd: sack.a_rwnd,
            gap_ack_blocks,
            duplicate_tsns: sack.duplicate_tsns,
        };
    }

    // Sort the intervals by their start value, to aid in the merging below.
    gap_ack_blocks.sort_by_key(|block| block.start);

    let mut merged = Vec::with_capacity(gap_ack_blocks.len());
    merged.push(gap_ack_blocks[0].clone());

    for block in gap_ack_blocks.iter().skip(1) {
        if (merged.last().unwrap().end as u32) + 1 >= block.start as u32 {
            merged.last_mut().unwrap().end = max(merged.last().unwrap().end, block.end);
        } else {
            merged.push(block.clone());
        }
    }

    SackChunk {
        cumulative_tsn_ack: sack.cumulative_tsn_ack,
        a_rwnd: sack.a_rwnd,
        gap_ack_blocks: merged,
        duplicate_tsns: sack.duplicate_tsns,
    }
}
