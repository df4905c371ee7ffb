//! Third-party servers and clients at the ends of an emulated link.

mod browsers;
mod clients;
mod http;
mod mqtt;
pub mod support;
mod trouble;
mod unprivileged;
