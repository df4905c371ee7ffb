//! Verdicts beside those of OpenSSL and AWS-LC, and those that Wycheproof publishes.

mod edges;
mod judges;
mod openssl;
mod random;
mod vectors;
