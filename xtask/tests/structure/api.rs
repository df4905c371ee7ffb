//! The public interface of `trackbed-test`, against a committed list: users compile against it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, UseTree, Visibility};

use crate::root;

const ADVICE: &str = "A line that is gone or differs breaks users: it needs the next minor version \
    (0.2 after 0.1) and a line under Changed in CHANGELOG.md. A new line needs one under Added. Then run\n    \
    TRACKBED_BLESS=1 cargo test --profile checked -p xtask --test structure api";

#[test]
fn the_public_interface_of_the_test_library_is_the_committed_one() {
    let folder = root().join("crates/test");
    let api = Api::read(&folder.join("src"));
    let text: String = api.lines.iter().map(|line| format!("{line}\n")).collect();
    let path = folder.join("api.txt");
    if std::env::var_os("TRACKBED_BLESS").is_some() {
        fs::write(&path, text).expect("a file");
        return;
    }
    let committed = fs::read_to_string(&path).expect("crates/test/api.txt");
    let committed: BTreeSet<&str> = committed.lines().collect();
    let current: BTreeSet<&str> = api.lines.iter().map(String::as_str).collect();
    let gone = committed.difference(&current).map(|line| format!("- {line}\n"));
    let new = current.difference(&committed).map(|line| format!("+ {line}\n"));
    let changes: String = gone.chain(new).collect();
    assert!(changes.is_empty(), "crates/test/api.txt differs from the code:\n{changes}{ADVICE}");
}

#[test]
fn every_public_item_of_the_test_library_has_an_example() {
    let bare = Api::read(&root().join("crates/test/src")).without_example;
    assert!(bare.is_empty(), "add an example to the documentation of:\n{}", bare.join("\n"));
}

/// What `lib.rs` exports, one line for each item.
#[derive(Default)]
struct Api {
    exported: BTreeSet<String>,
    lines: BTreeSet<String>,
    without_example: Vec<String>,
}

impl Api {
    fn read(source: &Path) -> Api {
        let mut api = Api::default();
        for item in items(&source.join("lib.rs")) {
            let Item::Use(item) = item else { continue };
            if matches!(item.vis, Visibility::Public(_)) {
                let text = tidy(item.tree.to_token_stream());
                // Other items of the crate are listed where they are defined.
                if text.starts_with("trackbed_") {
                    api.add(&item.attrs, format!("pub use {text}"));
                }
                api.export(&item.tree);
            }
        }
        let entries = source.read_dir().expect("the files");
        let files: BTreeSet<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
        files.iter().flat_map(|file| items(file)).for_each(|item| api.item(item));
        api
    }

    fn export(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.export(&path.tree),
            UseTree::Name(name) => drop(self.exported.insert(name.ident.to_string())),
            UseTree::Rename(name) => drop(self.exported.insert(name.rename.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.export(tree)),
            UseTree::Glob(_) => panic!("lib.rs exports names one by one"),
        }
    }

    fn item(&mut self, item: Item) {
        let exports = |name: &syn::Ident| self.exported.contains(&name.to_string());
        match item {
            Item::Fn(item) if exports(&item.sig.ident) => {
                self.add(&item.attrs, format!("pub {}", tidy(item.sig.to_token_stream())));
            }
            Item::Struct(item) if exports(&item.ident) => {
                let name = format!("{}{}", item.ident, tidy(item.generics.to_token_stream()));
                for attribute in item.attrs.iter().filter(|a| a.path().is_ident("derive")) {
                    let derived = attribute.meta.require_list().expect("a list of traits");
                    let traits = tidy(derived.tokens.clone());
                    for derived in traits.split(", ") {
                        self.lines.insert(format!("impl {derived} for {name}"));
                    }
                }
                let public = |field: &&syn::Field| matches!(field.vis, Visibility::Public(_));
                let fields = item.fields.iter().filter(public).map(|f| tidy(f.to_token_stream()));
                let fields: Vec<String> = fields.collect();
                let private = if matches!(item.fields, Fields::Unit) { ";" } else { " { .. }" };
                self.add(&item.attrs, format!("pub struct {name}{private}{}", fields.join(" ")));
            }
            Item::Enum(item) if exports(&item.ident) => {
                self.add(&item.attrs, tidy(item.to_token_stream()));
            }
            Item::Trait(item) if exports(&item.ident) => {
                self.add(&item.attrs, tidy(item.to_token_stream()));
            }
            Item::Impl(item) => self.implementation(&item),
            _ => {}
        }
    }

    fn implementation(&mut self, item: &ItemImpl) {
        let name = tidy(item.self_ty.to_token_stream());
        let bare = name.split('<').next().unwrap_or_default();
        if !self.exported.contains(bare) {
            return;
        }
        if let Some((_, of, _)) = &item.trait_ {
            self.lines.insert(format!("impl {} for {name}", tidy(of.to_token_stream())));
            return;
        }
        for inner in &item.items {
            if let ImplItem::Fn(method) = inner
                && matches!(method.vis, Visibility::Public(_))
            {
                let signature = tidy(method.sig.to_token_stream());
                self.add(&method.attrs, format!("{bare}: pub {signature}"));
            }
        }
    }

    fn add(&mut self, attributes: &[Attribute], line: String) {
        let documents = |attribute: &&Attribute| attribute.path().is_ident("doc");
        let mut docs = attributes.iter().filter(documents);
        if !docs.any(|line| line.to_token_stream().to_string().contains("```")) {
            self.without_example.push(line.clone());
        }
        self.lines.insert(line);
    }
}

fn items(file: &Path) -> Vec<Item> {
    let text = fs::read_to_string(file).expect("a file");
    syn::parse_file(&text).unwrap_or_else(|why| panic!("{}: {why}", file.display())).items
}

/// The tokens as text whose spaces do not depend on the version of a library.
fn tidy(tokens: impl ToString) -> String {
    let text = tokens.to_string();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tight = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        tight += word;
        let next = words.peek().and_then(|next| next.chars().next());
        if word.ends_with(is_word) && next.is_some_and(is_word) {
            tight.push(' ');
        }
    }
    let spaced = [(",", ", "), ("->", " -> "), ("::", "\0"), (":", ": "), ("\0", "::")];
    let spaced = spaced.iter().fold(tight, |text, (from, to)| text.replace(from, to));
    let spaced = [("+", " + "), ("where", " where "), ("  ", " "), (", )", ")")]
        .iter()
        .fold(spaced, |text, (from, to)| text.replace(from, to));
    spaced.trim_end_matches([',', ' ']).to_owned()
}
