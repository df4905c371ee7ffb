//! The group of P-256 (SP 800-186 section 3.2.1.3): points of y^2 = x^3 - 3 x + b.

mod affine;
mod jacobian;
mod table;
mod windows;

pub(crate) use affine::{Affine, AffineSum, finish_all};
pub(crate) use jacobian::Jacobian;
pub(crate) use table::{Entry, Form, Table, generator};
pub(crate) use windows::{Digit, Windows};

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::multiples;
