//! Other implementations, for comparison in benchmarks and tests.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[expect(unsafe_code, reason = "functions of a library in C")]
mod openssl;

#[cfg(feature = "aws-lc")]
pub use aws_lc::AwsLcKey;
pub use openssl::{OpenSsl, OpenSslContext, OpenSslError, OpenSslKey};
