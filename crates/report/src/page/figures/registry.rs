//! Every kind of figure, one per line.

use super::{difference, distribution, front, load, overview, sweep, tails};
use crate::page::figure::Figure;
use crate::page::material::Material;

/// A kind of figure: returns the figures it can make of a section, without views if the section lacks
/// the data.
pub(crate) type Kind = fn(&Material<'_>) -> Vec<Figure>;

/// Every kind, in page order.
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
