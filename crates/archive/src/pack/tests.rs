use super::*;

/// Writes a pack with this list and these entries.
fn written(at: &Path, list: &str, entries: &[(&str, EntryType, &str)]) {
    let mut archive = Builder::new(GzEncoder::new(File::create(at).unwrap(), Compression::fast()));
    let list = ("d/pack.json", EntryType::Regular, list);
    for (name, kind, text) in [&[list][..], entries].concat() {
        let mut header = header("x", text.len() as u64).unwrap();
        // `set_path` would refuse what an attacker writes.
        header.as_mut_bytes()[..100].fill(0);
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_cksum();
        archive.append(&header, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

/// The SHA-256 of `abc` is that of FIPS 180.
fn list(schema: u32, name: &str) -> String {
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let files = format!("[{{\"path\": \"{name}\", \"sha256\": \"{sha256}\", \"bytes\": 3}}]");
    format!("{{\"schema\": {schema}, \"trackbed\": \"9\", \"build\": null, \"files\": {files}}}")
}

#[test]
fn what_is_no_honest_pack_is_refused_and_writes_nothing_outside() {
    let scratch = tempfile::tempdir().unwrap();
    let (pack, place) = (scratch.path().join("x.tar.gz"), scratch.path().join("a/b"));
    let tried = || {
        fs::create_dir_all(&place).unwrap();
        let found = unpack(&pack, &place).map_err(|why| why.to_string());
        let files: Vec<_> = fs::read_dir(scratch.path()).unwrap().collect();
        assert_eq!((files.len(), fs::read_dir(scratch.path().join("a")).unwrap().count()), (2, 1));
        fs::remove_dir_all(&place).unwrap();
        found
    };
    let plain = EntryType::Regular;
    let good = [("d/f/x", plain, "abc")];
    written(&pack, &list(1, "f/x"), &good);
    assert_eq!(tried(), Ok(("d".to_owned(), 1)));
    let whole = fs::read(&pack).unwrap();
    let long = "b".repeat(99);
    for (list, entries, why) in [
        (list(1, "f/x"), vec![("d/f/x", plain, "abd")], "f/x has changed since it was packed"),
        (list(1, "f/x"), vec![("d/f/x", plain, "abcd")], "has \"d/f/x\" where"),
        (list(1, "f/x"), vec![], "lacks f/x; copy it again"),
        (list(1, "f/x"), vec![("d/../x", plain, "abc")], "has \"d/../x\" where it should have"),
        (list(1, "f/x"), vec![("/f/x", plain, "abc")], "has \"/f/x\" where"),
        (list(1, "f/x"), vec![("d/f/x", EntryType::Symlink, "abc")], "should have the file f/x"),
        (list(1, "f/x"), vec![("d/f/x", EntryType::Link, "abc")], "should have the file f/x"),
        (
            list(1, "f/x"),
            vec![("d/f/x", EntryType::GNULongName, &long)],
            "should have the file f/x",
        ),
        (list(1, "../x"), vec![("d/../x", plain, "abc")], "lists \"../x\", which is not a file"),
        (list(1, "/x"), vec![("d/x", plain, "abc")], "lists \"/x\", which"),
        (list(1, ""), vec![("d/", plain, "abc")], "lists \"\", which"),
        (list(2, "f/x"), good.to_vec(), "pack.json has format 2, but version"),
        ("[".to_owned(), vec![], "pack.json is damaged"),
    ] {
        written(&pack, &list, &entries);
        let found = tried().unwrap_err();
        assert!(
            found.starts_with(&format!("{}: ", pack.display())) && found.contains(why),
            "{found}"
        );
    }
    for (bytes, why) in
        [(&whole[..whole.len() / 2], "is cut off"), (b"PK\x03\x04, but not gzip", "is not a pack")]
    {
        fs::write(&pack, bytes).unwrap();
        assert!(tried().unwrap_err().contains(why), "{why}");
    }
}

/// A name may be too long for an archive; its extension says what it is.
#[test]
fn a_copy_keeps_the_end_of_its_name() {
    let path = format!("/data/{}ä.jsonl", "a".repeat(200));
    let input = Input { path, sha256: "0123456789abcdef".repeat(4), bytes: 1, is_folder: false };
    let name = copy_name(&input);
    assert!(name.starts_with("files/0123456789abcdef/aaa") && name.ends_with("ä.jsonl"), "{name}");
    assert!(header(&format!("results/{name}"), 1).is_ok() && name.len() <= 123);
}
