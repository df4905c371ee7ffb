//! ECDSA signatures on P-256 (FIPS 186-5 section 6.4.2), verified in batches, many times faster
//! than with a general library if keys sign often.
//!
//! A [`Verifier`] takes a batch of [`Item`]s (key, digest, signature) and returns a [`Verdict`] for
//! each, in order; an item's verdict does not depend on the other items. A key is either a
//! [`PublicKey`], or a [`KeyTable`] made of one, which makes verification several times faster; a
//! [`cache`] decides which keys have one. [`engine`] spreads items with deadlines over threads.
//!
//! # How
//!
//! A signature (r, s) of the digest e is valid under the key Q if the point (e/s) G + (r/s) Q has
//! the x-coordinate r modulo n. Scalars are cut into windows with odd signed digits. With tables of
//! all odd multiples of G and Q for each window, the point is a sum of 79 affine points without
//! doublings. They are added pairwise, level by level, and each level shares one field inversion
//! across the whole batch (Montgomery's trick), so that an addition costs six multiplications; when
//! the levels get too small for that, the rest is added in Jacobian coordinates. Without a table,
//! Q's part is doublings and additions in Jacobian coordinates. A sum that meets equal or opposite
//! points, where these formulae fail, is recomputed with complete ones: this happens only for
//! damaged and hostile signatures.
//!
//! # Paths
//!
//! [`Path::Portable`] works everywhere, on limbs of 64 bits, whose products take MULX and ADX where the processor has
//! them. [`Path::Ifma`] works on eight signatures at a time by AVX-512 IFMA. Both are found out at run time.
//! [`Path::Neon`] does so by NEON on aarch64. It has to be chosen, since no time of it is known.
//! [`Path::Gpu`] works on a graphics processor ([`gpu`]), which has to be chosen: it is for large batches.
//!
//! # Not for secrets
//!
//! The time of every operation depends on its input, which is public: keys, messages and
//! signatures. Do not sign with this arithmetic.

#![deny(unsafe_code)]

mod arithmetic;
mod backend;
pub mod cache;
mod curve;
pub mod division;
pub mod engine;
pub mod gpu;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "instructions that not every processor has")]
mod ifma;
mod item;
mod job;
mod key;
#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "loads, and functions that are compiled for NEON")]
mod neon;
pub mod others;
mod path;
mod places;
mod portable;
mod signature;
mod table;
mod verifier;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod wide;

pub use backend::{Clock, Unavailable, VerifierBackend};
pub use item::{Item, Key, Verdict};
pub use key::{KeyError, PublicKey};
pub use path::Path;
pub use signature::{Digest, Signature, SignatureError};
pub use table::KeyTable;
pub use verifier::Verifier;
