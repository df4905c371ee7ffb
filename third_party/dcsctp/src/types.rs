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

use crate::api::StreamId;
use std::fmt;

/// Ordered/Unordered stream identifiers.
///
/// Ordered and unordered streams are actually separate in many parts of SCTP even though the API
/// exposes both stream types as a single one. When necessary to separate the two, this enum is used
/// internally. Called `StreamKey` to differentiate itself with [`StreamId`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum StreamKey {
    Ordered(StreamId),
    Unordered(StreamId),
}

impl StreamKey {
    pub fn new(is_unordered: bool, id: StreamId) -> Self {
        if is_unordered { Self::Unordered(id) } else { Self::Ordered(id) }
    }

    pub fn id(&self) -> StreamId {
        match *self {
            StreamKey::Ordered(id) | StreamKey::Unordered(id) => id,
        }
    }

    pub fn is_ordered(&self) -> bool {
        matches!(self, Self::Ordered(_))
    }

    pub fn is_unordered(&self) -> bool {
        matches!(self, Self::Unordered(_))
    }
}

pub trait SerialNumber: Sized + Copy + Eq {
    type DistanceType;

    /// Calculates the absolute distance `|self - other|` between two sequence numbers,
    /// properly accounting for sequence space wrapping.
    fn distance_to(self, other: Self) -> Self::DistanceType;

    /// Returns true if this sequence number is strictly greater than `base`.
    /// This corresponds to the strictly "greater than" half of the sequence space,
    /// excluding equality and the exact half-space ambiguity point.
    fn greater_than(&self, base: Self) -> bool;

    /// Returns true if this sequence number is strictly less than `other`
    /// (i.e. `other` is strictly greater than `self`).
    fn less_than(&self, other: Self) -> bool {
        other.greater_than(*self)
    }

    /// Returns true if this sequence number is less than or equal to `other`.
    fn less_than_or_equal(&self, other: Self) -> bool {
        *self == other || other.greater_than(*self)
    }

    /// Returns true if this sequence number is greater than or equal to `other`.
    fn greater_than_or_equal(&self, other: Self) -> bool {
        *self == other || self.greater_than(other)
    }
}

macro_rules! define_rfc1982_serial {
    ($name:ident, $int_type:ident, $half_space:expr, $doc:expr) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Eq, Hash, PartialEq)]
        pub struct $name(pub $int_type);

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", self.0)
            }
        }

        impl std::ops::Add<$int_type> for $name {
            type Output = $name;

            #[inline]
            fn add(self, rhs: $int_type) -> $name {
                $name(self.0.wrapping_add(rhs))
            }
        }

        impl std::ops::Sub<$int_type> for $name {
            type Output = $name;

            #[inline]
            fn sub(self, rhs: $int_type) -> $name {
                $name(self.0.wrapping_sub(rhs))
            }
        }

        impl std::ops::AddAssign<$int_type> for $name {
            fn add_assign(&mut self, rhs: $int_type) {
                self.0 = self.0.wrapping_add(rhs);
            }
        }

        impl std::ops::SubAssign<$int_type> for $name {
            fn sub_assign(&mut self, rhs: $int_type) {
                self.0 = self.0.wrapping_sub(rhs);
            }
        }

        impl SerialNumber for $name {
            type DistanceType = $int_type;

            fn distance_to(self, other: Self) -> $int_type {
                if self.greater_than(other) {
                    self.0.wrapping_sub(other.0)
                } else {
                    other.0.wrapping_sub(self.0)
                }
            }

            fn greater_than(&self, base: Self) -> bool {
                let diff = self.0.wrapping_sub(base.0);
                diff > 0 && diff < $half_space
            }
        }

        impl $name {
            pub fn add_to(self, other: $int_type) -> Self {
                $name(self.0.wrapping_add(other))
            }
        }
    };
}

define_rfc1982_serial!(Ssn, u16, 1 << 15, "Stream Sequence Number (SSN)");
define_rfc1982_serial!(Mid, u32, 1 << 31, "Message Identifier (MID)");
define_rfc1982_serial!(Fsn, u32, 1 << 31, "Fragment Sequence Number (FSN)");
define_rfc1982_serial!(Tsn, u32, 1 << 31, "Transmission Sequence Number (TSN)");

/// An ID for every outgoing message, to correlate outgoing data chunks with the message it was
/// carved from. It can only be compared by equality - there is no defined ordering.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct OutgoingMessageId(pub u32);

impl fmt::Debug for OutgoingMessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OutgoingMessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::ops::AddAssign<u32> for OutgoingMessageId {
    fn add_assign(&mut self, rhs: u32) {
        self.0 = self.0.wrapping_add(rhs);
    }
}
