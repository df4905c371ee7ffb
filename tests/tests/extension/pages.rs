//! The pages quote what is compiled here, or in the tests of a crate.

use std::fs;
use std::path::Path;

/// Each page, and the file that it quotes.
const PAGES: [(&str, &str); 9] = [
    ("add-congestion-controller", "tests/tests/extension/congestion.rs"),
    ("add-link-model", "tests/tests/extension/link_model.rs"),
    ("add-protocol", "tests/tests/extension/protocol.rs"),
    ("add-queue", "tests/tests/extension/queue.rs"),
    ("add-scheduler", "tests/tests/extension/scheduler.rs"),
    ("add-workload", "tests/tests/extension/workload.rs"),
    ("test-your-code", "crates/test/tests/track/http2.rs"),
    ("test-your-code", "crates/test/tests/track/quic/runtime.rs"),
    ("test-your-code", "crates/test/tests/track/retransmission.rs"),
];

#[test]
fn every_page_quotes_its_example_as_it_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (page, file) in PAGES {
        let code = fs::read_to_string(root.join(file)).unwrap();
        let page = root.join(format!("docs/how-to/{page}.md"));
        let text = fs::read_to_string(&page).unwrap();
        let mut left = code.lines();
        let mut quoted = 0;
        for block in text.split(&format!("```rust,from={file}\n")).skip(1) {
            let lines = block.lines().take_while(|line| *line != "```");
            for line in lines.filter(|line| line.trim() != "...") {
                let shown = page.display();
                assert!(left.any(|other| other == line), "{shown}: {file} has no more: {line}");
                quoted += usize::from(!line.is_empty());
            }
        }
        assert!(quoted > 10, "{} quotes {quoted} lines of {file}", page.display());
    }
}
