//! Pictures on paper: panels of marks, drawn as SVG, PDF or PNG. Figures, studies' pictures, handover tables
//! and diverging runs all describe a [`Plot`]; nothing else draws.

mod axis;
mod font;
mod layout;
mod model;
pub mod network;
mod pdf;
mod png;
mod scene;

pub use font::{Font, FontError};
pub(crate) use model::{Axis, Fill, Key, Look, Mark, Panel, Scale};
pub use model::{POINTS_PER_MM, Paper, Plot};
pub use scene::Scene;
pub(crate) use scene::escaped;

impl Plot {
    /// Draws it.
    pub fn on(&self, paper: Paper<'_>) -> Scene {
        layout::scene(self, paper)
    }

    /// For a page: one element for each of these widths in its pixels, of the classes `w0`, `w1` and so on.
    pub(crate) fn inline(&self, widths: &[f64]) -> String {
        let font = &Font::bundled();
        let drawn = widths.iter().enumerate().map(|(number, width)| {
            self.on(Paper { width: *width, size: 12.0, font }).inline(&format!("w{number}"))
        });
        drawn.collect()
    }

    /// As a file, `width` millimetres wide.
    pub(crate) fn svg(&self, width: f64) -> String {
        let font = &Font::bundled();
        self.on(Paper { width: width * POINTS_PER_MM, size: 8.0, font }).svg(font)
    }
}

#[cfg(test)]
mod tests;
