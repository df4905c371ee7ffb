//! The crates in a released program: their licences, and a bill of materials (CycloneDX).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::target::Target;
use crate::cargo::{RELEASE_FEATURES, cargo, printed};
use crate::files::{read, told};

/// What `cargo metadata` says about a workspace.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
    description: Option<String>,
    manifest_path: PathBuf,
    authors: Vec<String>,
    /// None if it comes from a folder of the project.
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

/// The crates in the program of one target.
pub struct Crates {
    packages: Vec<Package>,
    dependencies: BTreeMap<String, Vec<String>>,
    checksums: BTreeMap<(String, String), String>,
}

impl Crates {
    /// Asks cargo: neither build scripts nor macros are in the program.
    pub fn of(target: &Target, root: &Path) -> Result<Crates, String> {
        let features: Vec<String> =
            RELEASE_FEATURES.split(',').map(|feature| format!("trackbed/{feature}")).collect();
        let common = ["--locked", "--features", &features.join(",")];
        let tree = printed(
            cargo()
                .current_dir(root)
                .args(["tree", "--package", "trackbed", "--prefix", "none"])
                .args(["--edges", "normal,no-proc-macro", "--format", "{p}", "--target", &target.0])
                .args(common),
        )?;
        let mut linked = BTreeSet::new();
        for line in tree.lines() {
            let mut words = line.split(' ');
            if let (Some(name), Some(version)) = (words.next(), words.next()) {
                linked.insert((name.to_owned(), version.trim_start_matches('v').to_owned()));
            }
        }
        let metadata = printed(
            cargo()
                .current_dir(root)
                .args(["metadata", "--format-version", "1"])
                .args(["--filter-platform", &target.0])
                .args(common),
        )?;
        let mut metadata: Metadata = serde_json::from_str(&metadata)
            .map_err(told("cannot read the output of cargo metadata"))?;
        let is_linked =
            |package: &Package| linked.contains(&(package.name.clone(), package.version.clone()));
        metadata.packages.retain(is_linked);
        metadata.packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        let lock = read(root.join("Cargo.lock"))?;
        let lock: Value = toml::from_str(&lock).map_err(told("Cargo.lock"))?;
        let word = |package: &Value, key| package[key].as_str().map(str::to_owned);
        let checksum = |package: &Value| {
            Some(((word(package, "name")?, word(package, "version")?), word(package, "checksum")?))
        };
        let checksums = lock["package"].as_array().into_iter().flatten();
        let checksums = checksums.filter_map(checksum).collect();
        let nodes = metadata.resolve.nodes.into_iter();
        let dependencies = nodes.map(|node| (node.id, node.dependencies)).collect();
        Ok(Crates { packages: metadata.packages, dependencies, checksums })
    }

    /// How many there are, the project's own included.
    pub fn len(&self) -> usize {
        self.packages.len()
    }

    /// The bill of materials, in the form of CycloneDX 1.6.
    pub fn bill(&self, version: &str, date: &str) -> Value {
        let urls: BTreeMap<&str, String> =
            self.packages.iter().map(|package| (package.id.as_str(), package.url())).collect();
        let (program, others): (Vec<&Package>, Vec<&Package>) =
            self.packages.iter().partition(|package| package.name == "trackbed");
        let components: Vec<Value> = others.iter().map(|other| self.component(other)).collect();
        let dependencies: Vec<Value> = self
            .packages
            .iter()
            .map(|package| {
                let on = self.dependencies.get(&package.id).into_iter().flatten();
                let on: BTreeSet<&String> = on.filter_map(|id| urls.get(id.as_str())).collect();
                json!({ "ref": urls[package.id.as_str()], "dependsOn": on })
            })
            .collect();
        let tool = json!({ "type": "application", "name": "cargo xtask dist", "version": version });
        json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "timestamp": date,
                "tools": { "components": [tool] },
                "component": program.first().map(|package| {
                    let mut component = self.component(package);
                    component["type"] = json!("application");
                    component
                }),
            },
            "components": components,
            "dependencies": dependencies,
        })
    }

    fn component(&self, package: &Package) -> Value {
        let url = package.url();
        let mut component = json!({
            "type": "library",
            "bom-ref": url,
            "name": package.name,
            "version": package.version,
            "purl": url,
        });
        if let Some(text) = &package.description {
            component["description"] = json!(text.trim());
        }
        if let Some(licence) = package.licence() {
            component["licenses"] = json!([{ "expression": licence }]);
        }
        if let Some(address) = &package.repository {
            component["externalReferences"] = json!([{ "type": "vcs", "url": address }]);
        }
        let key = (package.name.clone(), package.version.clone());
        match self.checksums.get(&key) {
            Some(sum) => component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]),
            None if package.is_changed() => {
                let notes = format!("changed by third_party/{}/patches", package.name);
                component["pedigree"] = json!({ "notes": notes });
            }
            None => {}
        }
        component
    }

    /// The licences of all that is in the program, each text once.
    pub fn licences(&self, target: &Target, root: &Path) -> Result<String, String> {
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut list = String::new();
        for package in self.packages.iter().filter(|package| !package.is_ours()) {
            let named = format!("{} {}", package.name, package.version);
            let found = licence_files(&package.folder());
            let licence = package.licence().unwrap_or_else(|| "see below".to_owned());
            let address = package.repository.as_deref().unwrap_or_default();
            let _ = write!(list, "{named}  {licence}  {address}");
            if found.is_empty() {
                let _ = write!(list, "  by {}", package.authors.join(", "));
            }
            list.push('\n');
            for text in found {
                texts.entry(text).or_default().push(named.clone());
            }
        }
        for text in licence_files(&root.join("crates/report/assets")) {
            texts
                .entry(text)
                .or_default()
                .push("libraries of report pages, the font of figures".to_owned());
        }
        let (library, text) = c_library(target, root)?;
        texts.entry(text).or_default().push(library);
        let mut all = format!(
            "Trackbed contains the crates listed here, the Rust standard library (MIT OR Apache-2.0,\n\
             with code of other projects: RUST-STANDARD-LIBRARY) and a C library. Their licences follow the list. A crate\n\
             whose package holds no text of its licence is listed with its authors.\n\n{list}"
        );
        let mut sorted: Vec<(Vec<String>, String)> =
            texts.into_iter().map(|(text, users)| (users, text)).collect();
        sorted.sort();
        for (users, text) in sorted {
            let _ = write!(all, "\n{:=<100}\n{}:\n\n{}\n", "", users.join(", "), text.trim());
        }
        Ok(all)
    }
}

impl Package {
    fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }

    /// As an expression of SPDX, which older crates write with a slash.
    fn licence(&self) -> Option<String> {
        self.license.as_ref().map(|licence| licence.replace('/', " OR ").replace("  ", " "))
    }

    fn folder(&self) -> PathBuf {
        self.manifest_path.parent().map(PathBuf::from).unwrap_or_default()
    }

    /// Whether it is an engine in `third_party`.
    fn is_changed(&self) -> bool {
        self.source.is_none()
            && self.manifest_path.components().any(|part| part.as_os_str() == "third_party")
    }

    fn is_ours(&self) -> bool {
        self.source.is_none() && !self.is_changed()
    }
}

/// The texts of licences in a folder and in the folders of C code below it.
fn licence_files(folder: &Path) -> Vec<String> {
    const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
    let mut texts = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_code = ["RS", "JS"].iter().any(|end| name.ends_with(&format!(".{end}")));
        if path.is_dir() && !["TARGET", "TESTS", "BENCHES"].contains(&name.as_str()) {
            texts.extend(licence_files(&path));
        } else if path.is_file() && !is_code && NAMES.iter().any(|part| name.contains(part)) {
            texts.extend(fs::read_to_string(&path).map(|text| text.replace('\r', "")));
        }
    }
    texts
}

/// The C library in a static program, and its licence.
fn c_library(target: &Target, root: &Path) -> Result<(String, String), String> {
    if target.uses_glibc() {
        let version = target.version_of_glibc().map(|version| format!(" ({version})"));
        let name = format!("the GNU C Library{}", version.unwrap_or_default());
        let text = "LGPL-2.1-or-later. Source: https://sourceware.org/glibc/. To link this program with a\n\
                    changed version, build it from its own source: `cargo xtask dist`.\n\n";
        let licence = fs::read_to_string("/usr/share/common-licenses/LGPL-2.1").unwrap_or_default();
        return Ok((name, text.to_owned() + &licence));
    }
    let mit = read(root.join("LICENSE-MIT"))?;
    let ours = mit.lines().find(|line| line.starts_with("Copyright")).unwrap_or_default();
    let text = mit.replace(ours, "Copyright (c) 2005-2020 Rich Felker, et al.");
    Ok(("the C library musl".to_owned(), text))
}
