//! Our HTTP and CoAP ends on the kernel's sockets, tested by third-party programs: a conformance
//! suite and a common client. Tests of missing programs are reported and skipped; with `CI=true`
//! that is a failure.

mod coap;
mod curl;
mod go;
mod h2spec;
mod mosquitto;
