//! Servers and clients that are not ours at the ends of an emulated link. Where the machine does
//! not allow namespaces, or a program is missing, these tests say so and pass; with `CI=true` a
//! missing program is a failure.

mod browsers;
mod clients;
mod http;
mod mqtt;
mod support;
mod trouble;
