//! Servers and clients that are not ours at the ends of an emulated link.

mod browsers;
mod clients;
mod http;
mod mqtt;
mod support;
mod trouble;
mod unprivileged;
