//! What links and networks do, checked against arithmetic, published laws and the contract.
#![forbid(unsafe_code)]

mod background;
mod cell;
mod codel;
mod composition;
mod delay;
mod fq_codel;
mod harness;
mod loss;
mod medium;
mod outage;
mod processor;
mod rate;
mod rate_trace;
mod registry;
mod shared;
mod swarm;
mod timetables;
mod too_big;
mod topology;
mod wifi;
