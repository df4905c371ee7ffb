//! Scripts and styles that every page contains.

/// Style sheets, in cascade order.
pub(crate) const STYLES: [&str; 4] = [
    include_str!("../../assets/page/base.css"),
    include_str!("../../assets/page/tables.css"),
    include_str!("../../assets/page/figures.css"),
    include_str!("../../assets/page/print.css"),
];

/// The page's script: definitions first, then the start. They share one scope that nothing outside sees.
pub(crate) const SCRIPTS: [&str; 6] = [
    include_str!("../../assets/page/words.js"),
    include_str!("../../assets/page/reader.js"),
    include_str!("../../assets/page/downloads.js"),
    include_str!("../../assets/page/figure.js"),
    include_str!("../../assets/page/theme.js"),
    include_str!("../../assets/page/start.js"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Content of a `<script>` or `<style>` must neither end the element nor open a comment.
    #[test]
    fn no_asset_ends_its_element() {
        for script in SCRIPTS {
            let lower = script.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
        }
        for style in STYLES {
            assert!(!style.to_lowercase().contains("</style"));
        }
    }
}
