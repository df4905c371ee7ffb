//! From runs to advice, verdicts on studies, and calibrated figures.

mod advice;
mod calibration;
