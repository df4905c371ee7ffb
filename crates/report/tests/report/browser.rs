//! A page in Chromium.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The names under which Debian and others install it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The browser; `None` with a visible message if it is missing. With CI=true it is required.
fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let found = folders.iter().flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    let browser = found.into_iter().find(|path| path.is_file());
    if browser.is_none() {
        let in_ci = env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "chromium is missing: apt install chromium");
        eprintln!("SKIPPED: chromium is missing: apt install chromium");
    }
    browser
}

/// The browser's view of a page.
pub struct Seen {
    /// The probe's output.
    pub probe: Value,
    /// The console messages meanwhile.
    pub console: String,
}

/// Opens the page, runs `probe` when everything is drawn, and reads the result; `None` without a browser.
pub fn open(page: &str, width: u32, probe: &str) -> Option<Seen> {
    let browser = browser()?;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = format!(
        "const probe = () => {{ {probe} }};\
         let found; try {{ found = probe(); }} catch (error) {{ found = {{ failed: String(error) }}; }}\
         const bytes = [...new TextEncoder().encode(JSON.stringify(found))];\
         document.documentElement.dataset.probe = \
         bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');"
    );
    let digest = BASE64_STANDARD.encode(Sha256::digest(&script));
    let page = page.replacen("script-src ", &format!("script-src 'sha256-{digest}' "), 1);
    let (before, after) = page.rsplit_once("</body>").unwrap();
    let file = folder.join("page.html");
    fs::write(&file, format!("{before}<script>{script}</script></body>{after}")).unwrap();
    // A window is at least 500 pixels wide; a frame can be narrower.
    let frame = folder.join("frame.html");
    let html = format!(
        "<!doctype html><iframe src=page.html style='width:{width}px;height:1400px;border:0' \
         onload='document.body.dataset.probe = \
         this.contentDocument.documentElement.dataset.probe'></iframe>"
    );
    fs::write(&frame, html).unwrap();
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--enable-logging=stderr", "--timeout=60000"])
        .args(["--allow-file-access-from-files", "--window-size=1700,1500"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("file://{}", frame.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let encoded = dom.split("data-probe=\"").nth(1).and_then(|rest| rest.split('"').next());
    let encoded = encoded.unwrap_or_else(|| panic!("no probe in the page: {said}"));
    let console = said.lines().filter(|line| line.contains("CONSOLE"));
    Some(Seen {
        probe: serde_json::from_slice(&decoded(encoded)).unwrap(),
        console: console.collect::<Vec<_>>().join("\n"),
    })
}

/// The bytes that these hexadecimal digits are.
fn decoded(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Uses the controls of the page, and returns what is wrong then.
const LOOK: &str = include_str!("probes/look.js");

/// Asserts that the page is right at this width in pixels, and returns the titles of its figures after its own;
/// `None` without a browser.
pub fn examined(page: &str, width: u32, figures: u64) -> Option<Vec<String>> {
    let Seen { probe, console } = open(page, width, LOOK)?;
    assert_eq!(
        (console.as_str(), &probe["wrong"]),
        ("", &Value::Array(Vec::new())),
        "{width}: {probe}"
    );
    assert!(probe["figures"].as_u64().unwrap() >= figures, "{probe}");
    Some(serde_json::from_value(probe["titles"].clone()).unwrap())
}
