//! The time of a verdict by the size of its batch, as a picture.

use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// A picture with a curve for each named list of batch sizes and milliseconds, as SVG 1.1.
pub fn svg(curves: &[(&str, Vec<[f64; 2]>)]) -> String {
    let keys = curves.iter().enumerate();
    let keys = keys.map(|(number, (name, _))| Key::curve(Look::series(number), true, name));
    let marks = curves.iter().enumerate().flat_map(|(number, (_, points))| {
        let look = Look::series(number);
        let dots = points.iter().map(move |point| Mark::Dot(look, *point, Fill::Full));
        std::iter::once(Mark::Line(look, points.clone())).chain(dots)
    });
    let panel = Panel {
        title: String::new(),
        x: Axis::new("signatures in a batch", Scale::Data),
        y: Axis::new("time until a batch is verified (ms)", Scale::Data),
        marks: marks.collect(),
    };
    let keys = keys.collect();
    Plot { keys, panels: vec![panel], aspect: 0.5, panel_width_min: 40.0, ..Plot::default() }
        .svg(120.0)
}
