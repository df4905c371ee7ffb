//! The kinds of figures, each in a file: what data they need, and how they lay it out.

mod difference;
mod distribution;
mod front;
mod load;
pub(super) mod map;
mod overview;
mod sweep;
mod tails;
pub(super) mod timeline;
pub(super) mod waterfall;

use super::figure::Figure;
use super::material::Material;

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
