//! Which file a name comes from.

use std::path::{Path, PathBuf};

use crate::circles::Imports;
use crate::tree::{Names, Tree};

/// Which files of a crate import which others. A re-export (`pub use`) is not an import: a user of
/// the name imports the file that defines it.
pub fn imports(tree: &Tree) -> Imports {
    let mut imports = Imports::new();
    for (path, module) in tree {
        let entry = imports.entry(module.file.clone()).or_default();
        let files = module.named.iter().filter_map(|named| origin(tree, path, named, DEPTH));
        entry.extend(files.filter(|file| *file != module.file).map(Path::to_owned));
    }
    imports
}

/// The maximum length of a chain of re-exports; without it, two globs could recurse for ever.
const DEPTH: u8 = 12;

/// The file that defines what `named` means in the module `at`, if it is of this crate.
fn origin<'a>(tree: &'a Tree, at: &Names, named: &[String], depth: u8) -> Option<&'a Path> {
    let (first, rest) = named.split_first()?;
    let depth = depth.checked_sub(1)?;
    match first.as_str() {
        "crate" => below(tree, Vec::new(), rest, depth),
        "self" => below(tree, at.clone(), rest, depth),
        "super" => below(tree, parent(at)?, rest, depth),
        name => {
            let module = tree.get(at)?;
            let child = [at.clone(), vec![name.to_owned()]].concat();
            if tree.contains_key(&child) {
                return below(tree, child, rest, depth);
            }
            let target = module.imported.get(name).filter(|target| *target != named)?;
            let whole = [target.clone(), rest.to_vec()].concat();
            origin(tree, at, &whole, depth)
        }
    }
}

/// Resolves names from a module, through re-exports.
fn below<'a>(tree: &'a Tree, mut at: Names, names: &[String], depth: u8) -> Option<&'a Path> {
    let depth = depth.checked_sub(1)?;
    for (index, name) in names.iter().enumerate() {
        let rest = &names[index + 1..];
        if name == "super" {
            at = parent(&at)?;
            continue;
        }
        let child = [at.clone(), vec![name.clone()]].concat();
        if tree.contains_key(&child) {
            at = child;
            continue;
        }
        let module = tree.get(&at)?;
        if let Some(target) = module.imported.get(name) {
            return origin(tree, &at, &[target.clone(), rest.to_vec()].concat(), depth);
        }
        let found = module.globs.iter().find_map(|glob| {
            let whole = [glob.clone(), vec![name.clone()], rest.to_vec()].concat();
            origin(tree, &at, &whole, depth)
        });
        return found.or(Some(module.file.as_path()));
    }
    tree.get(&at).map(|module| module.file.as_path())
}

fn parent(at: &Names) -> Option<Names> {
    at.split_last().map(|(_, parent)| parent.to_vec())
}

#[test]
fn names_are_followed_through_those_who_hand_them_on() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    std::fs::create_dir(folder.join("net")).expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file");
    };
    write("lib.rs", "mod net; mod user; #[cfg(test)] mod missing;");
    write("net/mod.rs", "mod link; pub use link::Link; pub fn plain() {}");
    write("net/link.rs", "use crate::user::Other; pub struct Link;");
    write("user.rs", "use crate::net::Link; pub struct Other; fn f() { crate::net::plain() }");
    let imports = imports(&crate::tree::read(folder));
    let of = |name: &str| -> Vec<PathBuf> { imports[&folder.join(name)].iter().cloned().collect() };
    assert_eq!(of("net/mod.rs"), Vec::<PathBuf>::new());
    assert_eq!(of("net/link.rs"), [folder.join("user.rs")]);
    assert_eq!(of("user.rs"), [folder.join("net/link.rs"), folder.join("net/mod.rs")]);
    let circles = crate::circles::of(&imports);
    assert_eq!(circles, [vec![folder.join("net/link.rs"), folder.join("user.rs")]]);
}
