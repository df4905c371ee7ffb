//! Libraries, scripts and styles that every page contains.

/// Style sheets, in cascade order.
pub(crate) const STYLES: [&str; 4] = [
    include_str!("../../assets/page/base.css"),
    include_str!("../../assets/page/tables.css"),
    include_str!("../../assets/page/figures.css"),
    include_str!("../../assets/page/print.css"),
];

/// The libraries that draw (assets/vendor/README.md).
pub(crate) const LIBRARIES: [&str; 2] = [
    include_str!("../../assets/vendor/d3.min.js"),
    include_str!("../../assets/vendor/plot.umd.min.js"),
];

/// Their licences, which go with every copy.
pub(crate) const LICENCES: [(&str, &str); 5] = [
    ("d3 7.9.2", include_str!("../../assets/vendor/d3.LICENSE")),
    ("@observablehq/plot 0.6.17", include_str!("../../assets/vendor/plot.LICENSE")),
    ("isoformat", include_str!("../../assets/vendor/isoformat.LICENSE")),
    ("interval-tree-1d", include_str!("../../assets/vendor/interval-tree-1d.LICENSE")),
    ("binary-search-bounds", include_str!("../../assets/vendor/binary-search-bounds.LICENSE")),
];

/// The page's own script: definitions first, then one file per shape, then the start. They share
/// one scope that nothing outside sees.
pub(crate) const SCRIPTS: [&str; 15] = [
    include_str!("../../assets/page/words.js"),
    include_str!("../../assets/page/marks.js"),
    include_str!("../../assets/page/shapes/dots.js"),
    include_str!("../../assets/page/shapes/steps.js"),
    include_str!("../../assets/page/shapes/bands.js"),
    include_str!("../../assets/page/shapes/scatter.js"),
    include_str!("../../assets/page/shapes/panels.js"),
    include_str!("../../assets/page/shapes/bars.js"),
    include_str!("../../assets/page/shapes/map.js"),
    include_str!("../../assets/page/legend.js"),
    include_str!("../../assets/page/reader.js"),
    include_str!("../../assets/page/downloads.js"),
    include_str!("../../assets/page/figure.js"),
    include_str!("../../assets/page/theme.js"),
    include_str!("../../assets/page/start.js"),
];

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// The files are those published, with the checksums in the table.
    #[test]
    fn the_libraries_are_those_of_the_table() {
        let table = include_str!("../../assets/vendor/README.md");
        for library in LIBRARIES {
            let digest = Sha256::digest(library.as_bytes());
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(table.contains(&digest), "{digest} is not in assets/vendor/README.md");
        }
        for (name, licence) in LICENCES {
            assert!(licence.contains("Copyright"), "{name}");
        }
    }

    /// Content of a `<script>` or `<style>` must neither end the element nor open a comment.
    #[test]
    fn no_asset_ends_its_element() {
        for script in LIBRARIES.iter().chain(&SCRIPTS) {
            let lower = script.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
        }
        for style in STYLES {
            assert!(!style.to_lowercase().contains("</style"));
        }
    }
}
