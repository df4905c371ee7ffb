//! Where a train is, what its radio does, and what rides teach of handovers, from outside.

mod geometry;
mod gps;
mod learning;
mod logs;
mod radio;
mod tables;
