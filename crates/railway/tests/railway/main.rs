//! Tests of the public interface: motion, radio and handover tables.

mod geometry;
mod gps;
mod learning;
mod logs;
mod radio;
mod tables;
