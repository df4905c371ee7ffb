//! Which settings of a scenario give wanted figures: the question, and what a search found.

mod figure;
mod found;
mod space;

pub use figure::{Figure, Given};
pub use found::{Found, Solution, document};
pub use space::Space;
