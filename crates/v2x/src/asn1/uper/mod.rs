//! Unaligned packed encoding rules (ITU-T X.691), driven by the tables of a type.
//!
//! Extension additions that a type does not know are skipped. An alternative or a name after an
//! extension marker cannot be represented, so it is refused. So are fragments of 16,384 and more
//! parts: no message has room for them.

mod decode;
mod encode;

pub(crate) use decode::decode;
pub(crate) use encode::encode;
