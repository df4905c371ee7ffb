//! The modules of a crate: which file each is in, what it defines, and which paths its code names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemUse, UseTree, Visibility};

/// A path of names, from the crate's root for modules, as written for what code names.
pub type Names = Vec<String>;

#[derive(Default)]
pub struct Module {
    pub file: PathBuf,
    /// The target of an imported name, re-exported or not.
    pub imported: BTreeMap<String, Names>,
    /// Modules whose names are all imported.
    pub globs: Vec<Names>,
    /// Paths that code in this module names, without pure re-exports.
    pub named: Vec<Names>,
}

/// All modules of a crate that are built without tests, by their path from the root.
pub type Tree = BTreeMap<Names, Module>;

/// Reads the crate whose `lib.rs` or `main.rs` lies in `source`.
pub fn read(source: &Path) -> Tree {
    let [lib, main] = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let file = if lib.is_file() { lib } else { main };
    let mut tree = Tree::new();
    add(&mut tree, Vec::new(), &file, source, parse(&file).items);
    tree
}

fn parse(file: &Path) -> File {
    let text = fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}

/// Adds a module and those inside it. `folder` is where its `mod` items are looked for.
fn add(tree: &mut Tree, path: Names, file: &Path, folder: &Path, items: Vec<Item>) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    let mut code = Vec::new();
    for item in items {
        match item {
            Item::Mod(inner) if is_test(&inner.attrs) => {}
            Item::Mod(inner) => {
                let name = inner.ident.to_string();
                let below = folder.join(&name);
                let child = [path.clone(), vec![name.clone()]].concat();
                if let Some((_, items)) = inner.content {
                    add(tree, child, file, &below, items);
                } else {
                    let place = location(&inner.attrs, folder, &name);
                    add(tree, child, &place, &below, parse(&place).items);
                }
            }
            Item::Use(item) => import(&mut module, &item),
            other => code.push(other),
        }
    }
    let mut collector = Collector(Vec::new());
    code.iter()
        .filter(|item| !is_test(attributes(item)))
        .for_each(|item| collector.visit_item(item));
    module.named.append(&mut collector.0);
    tree.insert(path, module);
}

fn location(attributes: &[Attribute], folder: &Path, name: &str) -> PathBuf {
    for attribute in attributes {
        if let syn::Meta::NameValue(pair) = &attribute.meta
            && attribute.path().is_ident("path")
            && let syn::Expr::Lit(literal) = &pair.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            return folder.join(text.value());
        }
    }
    let flat = folder.join(format!("{name}.rs"));
    if flat.is_file() { flat } else { folder.join(name).join("mod.rs") }
}

fn import(module: &mut Module, item: &ItemUse) {
    if is_test(&item.attrs) {
        return;
    }
    let hands_on = !matches!(item.vis, Visibility::Inherited);
    let mut leaves = Vec::new();
    flatten(&item.tree, &mut Vec::new(), &mut leaves);
    for (path, alias) in leaves {
        match alias {
            Some(name) => {
                module.imported.insert(name, path.clone());
            }
            None => module.globs.push(path.clone()),
        }
        if !hands_on {
            module.named.push(path);
        }
    }
}

/// Each leaf of a `use`: its path, and the name it gets, or none for all names.
fn flatten(tree: &UseTree, path: &mut Names, leaves: &mut Vec<(Names, Option<String>)>) {
    let mut leaf = |path: &[String], name: Option<&syn::Ident>, alias: Option<&syn::Ident>| {
        let mut path = path.to_vec();
        let name = name.map(ToString::to_string);
        path.extend(name.clone().filter(|name| name != "self"));
        let last = path.last().cloned();
        leaves.push((path, alias.map(ToString::to_string).or(name.and(last))));
    };
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            flatten(&step.tree, path, leaves);
            path.pop();
        }
        UseTree::Name(name) => leaf(path, Some(&name.ident), None),
        UseTree::Rename(name) => leaf(path, Some(&name.ident), Some(&name.rename)),
        UseTree::Glob(_) => leaf(path, None, None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, leaves)),
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// Collects paths of more than one name from code.
struct Collector(Vec<Names>);

impl<'ast> Visit<'ast> for Collector {
    /// A visibility path is not an import.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }
}
