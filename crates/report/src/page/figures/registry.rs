//! Every kind of figure: one line each.

use super::{difference, distribution, front, load, overview, sweep, tails};
use crate::page::figure::Figure;
use crate::page::material::Material;

/// A kind of figure of a section: the figures that it can make of it, none where the section has
/// nothing of the kind.
pub(crate) type Kind = fn(&Material<'_>) -> Vec<Figure>;

/// Every kind, in the order in which the page shows them.
pub(crate) fn registry() -> &'static [Kind] {
    &[
        overview::figures,
        difference::figures,
        load::figures,
        sweep::figures,
        tails::figures,
        distribution::figures,
        front::figures,
    ]
}
