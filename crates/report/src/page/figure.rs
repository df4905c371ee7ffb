//! A figure as plain data: the page's script needs to know only its shape to draw it.

use std::collections::BTreeMap;

use serde::Serialize;

/// What an axis shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Axis {
    /// The quantity: `completion`.
    pub name: String,
    /// Its unit: `ms`. Empty for categories.
    pub unit: String,
    pub scale: Scale,
}

impl Axis {
    /// An axis of numbers.
    pub fn linear(name: impl Into<String>, unit: impl Into<String>) -> Axis {
        Axis { name: name.into(), unit: unit.into(), scale: Scale::Linear }
    }

    /// An axis of names.
    pub fn categories(name: impl Into<String>) -> Axis {
        Axis { name: name.into(), unit: String::new(), scale: Scale::Category }
    }

    /// With a scale that is logarithmic on both sides of zero, if the magnitudes of `values` differ
    /// enough.
    pub fn for_differences(mut self, values: impl IntoIterator<Item = f64>) -> Axis {
        let sizes = values.into_iter().map(f64::abs).filter(|size| size.is_finite() && *size > 0.0);
        let (low, high) =
            sizes.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        self.scale = if high / low >= DECADES_MIN { Scale::Symlog } else { Scale::Linear };
        self
    }

    /// With a logarithmic scale if positive `values` differ so much that the small ones would
    /// merge.
    pub fn for_values(mut self, values: impl IntoIterator<Item = f64>) -> Axis {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) =
            finite.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        if low > 0.0 && high / low >= DECADES_MIN {
            self.scale = Scale::Log;
        }
        self
    }
}

/// From this ratio of the largest to the smallest value, an axis is logarithmic.
const DECADES_MIN: f64 = 50.0;

/// How values are spaced along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths.
    Log,
    /// Logarithmic on both sides of zero, for differences.
    Symlog,
    /// Names, one below the other.
    Category,
}

/// How a figure is drawn; the script has a file for each shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// A row for each label: a dot, its interval, and ticks for quantiles.
    Dots,
    /// Distribution functions.
    Steps,
    /// Lines with bands of intervals.
    Bands,
    /// Points with intervals in both directions, and a line through the best ones.
    Scatter,
    /// Panels stacked along a shared axis.
    Panels,
    /// A bar of phases for each label.
    Bars,
    /// Lines and places with the same scale on both axes.
    Map,
}

/// A figure with its texts.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    /// Unique on the page; also the name of downloaded files.
    pub id: String,
    /// The element that contains it.
    pub place: String,
    pub shape: Shape,
    pub title: String,
    /// What it shows and how to read it.
    pub note: String,
    /// The reader's choices, each with its options.
    pub choosers: Vec<Chooser>,
    /// A view for each combination of choices.
    pub views: Vec<View>,
}

/// A choice between views.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Chooser {
    pub name: String,
    pub options: Vec<String>,
    /// What each option means, where that needs an explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

/// What is drawn for one choice.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct View {
    /// The index of the chosen option of each chooser.
    pub choice: Vec<usize>,
    pub x: Axis,
    /// One, or one per panel.
    pub y: Vec<Axis>,
    pub series: Vec<Series>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The number of runs behind it, and what is missing.
    pub caption: String,
}

/// Values that belong together. Every non-empty list has one entry per point.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Series {
    pub name: String,
    pub colour: usize,
    pub dash: usize,
    /// The view's panel that it belongs to.
    #[serde(skip_serializing_if = "is_zero")]
    pub panel: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub y: Vec<f64>,
    /// Further values of the points by name: interval bounds, quantiles, n.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<&'static str, Vec<f64>>,
}

impl Series {
    /// Adds a further value of the point being added.
    pub fn add(&mut self, name: &'static str, value: f64) {
        self.more.entry(name).or_default().push(value);
    }

    /// Adds the bounds of an interval; a single run has none.
    pub fn interval(&mut self, n: u32, ci95: [f64; 2], names: [&'static str; 2]) {
        let ends = if n > 1 { ci95 } else { [f64::NAN; 2] };
        names.into_iter().zip(ends).for_each(|(name, end)| self.add(name, end));
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A named position or span along an axis.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Mark {
    pub axis: Along,
    pub from: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    pub label: String,
}

/// The axis that a mark belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Along {
    X,
    Y,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_where_values_lie_far_apart() {
        let scale =
            |values: &[f64]| Axis::linear("rtt", "ms").for_values(values.iter().copied()).scale;
        assert_eq!(scale(&[1.0, 49.0]), Scale::Linear);
        assert_eq!(scale(&[1.0, f64::NAN, 50.0]), Scale::Log);
        assert_eq!(scale(&[0.0, 1000.0]), Scale::Linear, "zero has no logarithm");
        assert_eq!(scale(&[-1.0, 1000.0]), Scale::Linear);
        assert_eq!(scale(&[]), Scale::Linear);
        let scale = |values: &[f64]| {
            Axis::linear("rtt", "ms").for_differences(values.iter().copied()).scale
        };
        assert_eq!(scale(&[-1.0, 0.0, 49.0]), Scale::Linear);
        assert_eq!(scale(&[-1.0, 0.0, 50.0]), Scale::Symlog);
        assert_eq!(scale(&[]), Scale::Linear);
    }
}
