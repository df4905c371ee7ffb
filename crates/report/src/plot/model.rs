//! What a picture is made of, before its size is known.

use super::font::Font;
use crate::page::palette::SERIES;

/// Where something is: in units of the axes, or in points from the left and upper edge.
pub(crate) type Point = [f64; 2];

/// A picture.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// The legend, above the panels.
    pub(crate) keys: Vec<Key>,
    pub(crate) panels: Vec<Panel>,
    /// What the further numbers of its values are.
    pub(crate) columns: Vec<&'static str>,
    /// Whether all panels have the same scales.
    pub(crate) is_shared: bool,
    /// Height of a panel's frame as a share of its width; a frame with rows has their height.
    pub(crate) aspect: f64,
    /// As many panels stand side by side as are at least this wide, in font sizes.
    pub(crate) panel_width_min: f64,
}

/// How large a picture is drawn, in points.
#[derive(Clone, Copy, Debug)]
pub struct Paper<'a> {
    /// Width of the picture.
    pub width: f64,
    /// Size of all text.
    pub size: f64,
    /// Measures text.
    pub font: &'a Font,
}

/// Points of PDF and of type.
pub const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// Marks between two axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub marks: Vec<Mark>,
}

/// An entry of the legend: its marks lie between 0 and 1 on both axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub marks: Vec<Mark>,
    pub text: String,
}

impl Key {
    /// A line, with its marker or without.
    pub fn curve(look: Look, is_marked: bool, text: &str) -> Key {
        let mut marks = vec![Mark::Line(look, vec![[0.0, 0.5], [1.0, 0.5]])];
        marks.extend(is_marked.then_some(Mark::Dot(look, [0.5, 0.5], Fill::Full)));
        Key { marks, text: text.to_owned() }
    }

    /// An interval, upright in its plot or not.
    pub fn interval(look: Look, is_upright: bool, text: &str) -> Key {
        let mark = match is_upright {
            true => Mark::Whisker(look, [0.5, 0.0], [0.5, 1.0]),
            false => Mark::Whisker(look, [0.0, 0.5], [1.0, 0.5]),
        };
        Key { marks: vec![mark], text: text.to_owned() }
    }

    /// A marker.
    pub fn dot(look: Look, fill: Fill, text: &str) -> Key {
        Key { marks: vec![Mark::Dot(look, [0.5, 0.5], fill)], text: text.to_owned() }
    }

    /// A line across a panel.
    pub fn rule(text: &str) -> Key {
        Key { marks: vec![Mark::Rule([0.5, f64::NAN])], text: text.to_owned() }
    }

    /// A filled area.
    pub fn area(look: Look, fill: Fill, text: &str) -> Key {
        Key { marks: vec![Mark::Area(look, [0.0, 0.1], [1.0, 0.9], fill)], text: text.to_owned() }
    }
}

/// What an axis shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub name: String,
    pub scale: Scale,
}

impl Axis {
    pub fn new(name: impl Into<String>, scale: Scale) -> Axis {
        Axis { name: name.into(), scale }
    }
}

/// How values are spaced. An axis whose values are positive and far apart is logarithmic, where the scale
/// allows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    /// From zero or, if they are far apart, logarithmic.
    Zero,
    /// Linear from zero.
    Linear,
    /// From the smallest value to the largest, linear or logarithmic.
    Data,
    /// Zero is inside, and marked.
    Difference,
    /// Linear between these ends.
    Ends(f64, f64),
    /// Between these ends, logarithmic if they are far apart.
    Range(f64, f64),
    /// A name at each whole number from 0: from left to right, or from top to bottom.
    Names(Vec<String>),
}

/// Colour, dash and marker: each of them tells curves apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub colour: usize,
    pub dash: usize,
}

impl Look {
    /// Black, for what belongs to no series.
    pub const INK: Look = Look { colour: SERIES, dash: 0 };

    /// Of a colour, with the marker number `marker`.
    pub fn marked(colour: usize, marker: usize) -> Look {
        let colour = colour % SERIES;
        Look { colour, dash: (marker + SERIES * MARKERS - colour) % MARKERS }
    }

    /// The look of the series number `number`.
    pub fn series(number: usize) -> Look {
        Look { colour: number % SERIES, dash: number / SERIES }
    }
}

pub(super) const MARKERS: usize = 6;

/// What is inside an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    Full,
    Light,
    White,
}

/// Something drawn in a panel, in units of its axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// A line, with a gap where a coordinate is not a number.
    Line(Look, Vec<Point>),
    Dot(Look, Point, Fill),
    /// An interval. An end beyond the axis is an arrowhead, others have a cap.
    Whisker(Look, Point, Point),
    /// A rectangle between two corners.
    Area(Look, Point, Point, Fill),
    /// A dashed line across the panel, at the coordinate that is a number.
    Rule(Point),
    /// Not drawn, but told where it is: the name of a series or row, a place, and further numbers.
    Value(String, Point, Vec<f64>),
}
