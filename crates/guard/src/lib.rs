//! Files and text that may come from somebody else: [`files`] are opened without following links where
//! they are written, and without waiting where they are read; text is made [`printable()`] before a
//! terminal or a log gets it.
#![forbid(unsafe_code)]

pub mod files;
mod printable;

pub use printable::{Printer, printable, printable_line};
