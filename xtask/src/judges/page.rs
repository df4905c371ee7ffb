//! The page about the judges.

use super::{Judge, Verdict, shell};

/// The page.
pub fn render(all: &[(Judge, Verdict)]) -> String {
    let mut page = HEAD.replace("DATE", &shell("date -u +%Y-%m-%d").unwrap_or_default());
    let (mut passed_all, mut total, mut failed) = (0, 0, String::new());
    for (Judge { name, about, .. }, verdict) in all {
        let Some((version, cases)) = verdict else {
            page += &format!("| {name} | {about} | not installed | | |\n");
            continue;
        };
        let passed = cases.iter().filter(|case| case.failure.is_none()).count();
        page +=
            &format!("| {name} | {about} | {version} | {passed} | {} |\n", cases.len() - passed);
        (passed_all, total) = (passed_all + passed, total + cases.len());
        for case in cases {
            let Some(failure) = &case.failure else { continue };
            let is_it = |parts: &[&str]| parts.iter().any(|part| case.name.contains(part));
            let reason = REASONS.iter().find(|(judge, parts, _)| judge == name && is_it(parts));
            let reason = reason.map_or(UNKNOWN, |(_, _, reason)| *reason);
            failed += &format!("| {name} | {} | {failure} | {reason} |\n", case.name);
        }
    }
    let percent = 100.0 * passed_all as f64 / total.max(1) as f64;
    page += &format!("\n{passed_all} of {total} cases passed ({percent:.1} %).\n");
    if !failed.is_empty() {
        page += FAILED;
        page += &failed;
    }
    page + TAIL
}

/// The reason of a failure that nobody has explained.
pub const UNKNOWN: &str = "not yet known";

const HEAD: &str = include_str!("head.md");

const FAILED: &str = "
## Failed cases

| judge | case | what happened | reason |
| --- | --- | --- | --- |
";

const TAIL: &str = include_str!("tail.md");

/// A judge, parts of its cases' names, and why such cases fail.
#[rustfmt::skip]
const REASONS: [(&str, &[&str], &str); 13] = [
    (RULES, &["coder stream", "dynamic table", "a table", "increment", "acknowledgment"], "h3 0.0.8 has no dynamic table and does not read these streams"),
    (RULES, &["PUSH", "push", "GOAWAY"], "h3 0.0.8 has no push and does not check what belongs to it"),
    (RULES, &["request with :", "pseudo"], "h3 0.0.8 does not check the number and order of these fields"),
    (TLS, &["N invalid schemes", "non-rsa schemes", "tolerance N methods"], "rustls 0.23 takes a hello of at most 64 kB"),
    (TLS, &["pkcs-signature: rsa", "only undefined sigalgs", "only legacy sigalgs"], "rustls 0.23 notices it only after its first answer"),
    (TLS, &["HRR reversed"], "rustls 0.23 does not compare the order of extensions with that of the first hello"),
    (TLS, &["legacy-version: version"], "rustls 0.23 reads this field only where supported_versions is absent (for 3.0 against RFC 8446, appendix D.5)"),
    (TLS, &["CCS Messages in one TCP", "second CCS"], "rustls 0.23 ignores up to two of these messages, as RFC 8446, section 5, allows"),
    (TLS, &["fragmented early data"], "rustls 0.23 counts refused early data again whenever more of it arrives, and takes it for too much"),
    (TLS, &["app data split"], "rustls 0.23 answers a KeyUpdate before its next data (RFC 8446, section 4.6.3), for which the script does not wait"),
    (TLS, &["too big ClientHello"], "rustls 0.23 checks only encrypted records for the limit of 16,384 bytes"),
    (TLS, &["crfg-curves: empty", "empty-alert: empty", "finished: truncation", "finished: padding", "finished: empty", "Unencrypted Finished", "key_share extension omitted", "max size payload (N", "too big ciphertext"], "rustls 0.23 refuses it with another alert"),
    (TLS, &["record later in handshake", "appdata between", "zero content type", "app data interleaved", "padding interleaved"], "rustls 0.23 closes without an alert"),
];

const RULES: &str = "a client that breaks rules";
const TLS: &str = "tlsfuzzer";
