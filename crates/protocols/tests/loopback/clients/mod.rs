//! Our HTTP and CoAP ends on the kernel's sockets, judged by programs of others: a conformance suite and
//! a client that everybody has. What is missing is said and skipped; with `CI=true` that is a
//! failure.

mod coap;
mod curl;
mod h2spec;
mod mosquitto;
mod support;
