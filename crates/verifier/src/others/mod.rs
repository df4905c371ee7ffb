//! Other implementations, which benchmarks and tests run beside this one.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[expect(unsafe_code, reason = "functions of a library in C")]
mod openssl;

#[cfg(feature = "aws-lc")]
pub use aws_lc::AwsLcKey;
pub use openssl::{OpenSsl, OpenSslContext, OpenSslError, OpenSslKey};
