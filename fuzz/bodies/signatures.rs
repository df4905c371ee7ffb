//! Keys and signatures from bytes: nothing may panic, and every path, with and without tables, must
//! come to the same verdicts, whatever else is in the batch.

use trackbed_verifier::{
    Digest, Item, Key, KeyTable, Path, PublicKey, Signature, Verdict, Verifier,
};

type Record = (PublicKey, Digest, Signature);

/// One input: records of a length and a key in SEC 1's form, a length and a signature in DER or as r
/// beside s, and 32 octets of digest. A key that is none gives way to the one before it.
pub fn run(data: &[u8]) {
    let mut records: Vec<Record> = Vec::new();
    let mut rest = data;
    while records.len() < 20
        && let Some((key, behind)) = piece(rest)
        && let Some((signature, behind)) = piece(behind)
        && let Some((digest, behind)) = behind.split_at_checked(32)
    {
        rest = behind;
        let parsed = PublicKey::from_sec1(key);
        if let Ok(key) = &parsed {
            assert_eq!(PublicKey::from_sec1(&key.to_sec1()).as_ref(), Ok(key));
        }
        let key = parsed.ok().or(records.last().map(|record| record.0));
        let signature = Signature::from_der(signature).or(Signature::from_p1363(signature));
        if let (Some(key), Ok(signature)) = (key, signature) {
            records.push((key, Digest::from_hash(digest), signature));
        }
    }
    let Ok(mut reference) = Verifier::with_path(Path::Portable) else { return };
    let expected: Vec<Verdict> = records
        .iter()
        .map(|(key, digest, signature)| {
            reference.verify_one(Item { key: Key::Plain(key), digest, signature })
        })
        .collect();
    for path in Path::ALL {
        let Ok(mut verifier) = Verifier::with_path(path) else { continue };
        let tables: Vec<KeyTable> =
            records.iter().map(|(key, ..)| KeyTable::new(key, path)).collect();
        for with_tables in [false, true] {
            let key = |place: usize| match with_tables {
                true => Key::Table(&tables[place]),
                false => Key::Plain(&records[place].0),
            };
            let items: Vec<Item<'_>> = records
                .iter()
                .enumerate()
                .map(|(place, (_, digest, signature))| Item { key: key(place), digest, signature })
                .collect();
            let mut verdicts = Vec::new();
            verifier.verify(&items, &mut verdicts);
            assert_eq!(verdicts, expected, "path {}, tables: {with_tables}", path.name());
        }
    }
}

/// A piece after its length, and the bytes after it.
fn piece(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first()?;
    rest.split_at_checked(usize::from(*length))
}
