//! Runs to advice, to the claims of studies, and to calibrated figures.

mod advice;
mod calibration;
