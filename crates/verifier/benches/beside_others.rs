//! What a verification costs beside other libraries: messages of 300 B of 320 keys, SHA-256 included,
//! in processor time of one thread. All are measured in turns, round after round, and a ratio is the
//! median of the rounds' ratios to AWS-LC's, so that a machine that changes its pace changes little.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::Signer;
use trackbed_verifier::engine::thread_cpu_nanos;
use trackbed_verifier::others::{OpenSsl, OpenSslKey};
use trackbed_verifier::{Digest, Item, Key, KeyTable, Path, PublicKey, Signature, Verifier};

const MESSAGE_LEN: usize = 300;
const PATHS: [Path; 3] = [Path::Portable, Path::Ifma, Path::Neon];
const BATCHES: [usize; 7] = [1, 2, 4, 8, 16, 32, 128];

struct Signed {
    key: usize,
    message: Vec<u8>,
    signature: Signature,
    der: Vec<u8>,
}

/// One way to verify a round's messages.
struct Subject<'a> {
    name: String,
    run: Box<dyn FnMut() + 'a>,
    /// How many of what is measured a run does.
    count: usize,
    nanos: Vec<u64>,
}

fn main() {
    // Keys, messages and rounds: few are enough where instructions are counted.
    let sizes = std::env::var("TRACKBED_BENCH").unwrap_or("320 640 21".into());
    let sizes: Vec<usize> = sizes.split(' ').map(|size| size.parse().expect("a number")).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let keys: Vec<SigningKey> = (0..sizes[0]).map(|_| signing_key(&mut random)).collect();
    let signed: Vec<Signed> = (0..sizes[1]).map(|_| sign(&keys, &mut random)).collect();
    let sec1: Vec<Vec<u8>> = keys.iter().map(encode).collect();
    let publics: Vec<PublicKey> =
        sec1.iter().map(|key| PublicKey::from_sec1(key).expect("a key")).collect();
    let tables: Vec<(Path, Vec<KeyTable>)> = PATHS
        .into_iter()
        .filter(|path| path.is_available())
        .map(|path| (path, publics.iter().map(|key| KeyTable::new(key, path)).collect()))
        .collect();
    let openssl = OpenSsl::open().inspect_err(|why| eprintln!("skipped: {why}")).ok();
    let read =
        |openssl: &OpenSsl| sec1.iter().map(|key| openssl.key(key).expect("a key")).collect();
    let openssl_keys: Vec<OpenSslKey> = openssl.as_ref().map(read).unwrap_or_default();
    let mut subjects = Vec::new();
    add_others(&mut subjects, &signed, &sec1, &openssl_keys);
    for (path, tables) in &tables {
        for size in BATCHES {
            let with = |signed: &Signed| Key::Table(&tables[signed.key]);
            add_ours(&mut subjects, "tables", *path, size, &signed, with);
        }
        for size in BATCHES {
            let with = |signed: &Signed| Key::Plain(&publics[signed.key]);
            add_ours(&mut subjects, "no table", *path, size, &signed, with);
        }
    }
    add_tables(&mut subjects, &publics);
    // With an argument, only what has it in its name, beside the first, which is the measure.
    if let Some(wanted) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        let mut number = 0..;
        subjects.retain(|subject| number.next() == Some(0) || subject.name.contains(&wanted));
    }
    for round in 0..=sizes[2] {
        for subject in &mut subjects {
            let begin = thread_cpu_nanos();
            (subject.run)();
            // The first round warms up.
            if round > 0 {
                subject.nanos.push(thread_cpu_nanos() - begin);
            }
        }
    }
    print(&subjects, keys.len());
}

fn add_others<'a>(
    subjects: &mut Vec<Subject<'a>>,
    signed: &'a [Signed],
    sec1: &'a [Vec<u8>],
    openssl: &'a [OpenSslKey],
) {
    let parse = |key: &Vec<u8>| ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).expect("a key");
    let parsed: Vec<ParsedPublicKey> = sec1.iter().map(parse).collect();
    subjects.push(Subject::new("AWS-LC, key parsed once", signed.len(), move || {
        for signed in signed {
            let fixed = [signed.signature.r, signed.signature.s].concat();
            parsed[signed.key].verify_sig(&signed.message, &fixed).expect("valid");
        }
    }));
    let contexts: Vec<_> =
        openssl.iter().map(|key| key.context().expect("OpenSSL has memory")).collect();
    if contexts.is_empty() {
        return;
    }
    subjects.push(Subject::new("OpenSSL, key parsed once", signed.len(), move || {
        for signed in signed {
            assert!(contexts[signed.key].verify(&hash(&signed.message), &signed.der));
        }
    }));
}

fn add_ours<'a>(
    subjects: &mut Vec<Subject<'a>>,
    way: &str,
    path: Path,
    size: usize,
    signed: &'a [Signed],
    with: impl Fn(&'a Signed) -> Key<'a> + 'a,
) {
    let Ok(mut verifier) = Verifier::with_path(path) else { return };
    let (mut digests, mut items, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
    let name = format!("{}, {way}, batches of {size}", path.name());
    subjects.push(Subject::new(&name, signed.len(), move || {
        for batch in signed.chunks(size) {
            digests.clear();
            digests.extend(batch.iter().map(|signed| hash(&signed.message)));
            items.clear();
            items.extend(batch.iter().zip(&digests).map(|(signed, digest): (_, &Digest)| {
                let (digest, signature) = (*digest, &signed.signature);
                (with(signed), digest, signature)
            }));
            let batch: Vec<Item<'_>> = items
                .iter()
                .map(|(key, digest, signature)| Item { key: *key, digest, signature })
                .collect();
            verifier.verify(&batch, &mut verdicts);
            assert!(verdicts.iter().all(|verdict| verdict.is_valid()));
        }
    }));
}

fn add_tables<'a>(subjects: &mut Vec<Subject<'a>>, keys: &'a [PublicKey]) {
    for path in PATHS.into_iter().filter(|path| path.is_available()) {
        let name = format!("a key's table, {}", path.name());
        let keys = &keys[..keys.len().min(20)];
        subjects.push(Subject::new(&name, keys.len(), move || {
            for key in keys {
                std::hint::black_box(KeyTable::new(key, path));
            }
        }));
    }
}

impl<'a> Subject<'a> {
    fn new(name: &str, count: usize, run: impl FnMut() + 'a) -> Self {
        Self { name: name.into(), run: Box::new(run), count, nanos: Vec::new() }
    }

    /// Microseconds of each, round by round.
    fn micros(&self) -> impl Iterator<Item = f64> {
        self.nanos.iter().map(|nanos| *nanos as f64 / 1e3 / self.count as f64)
    }
}

fn print(subjects: &[Subject<'_>], keys: usize) {
    println!("{keys} keys, {MESSAGE_LEN} B, a table takes {} B", KeyTable::BYTES);
    println!("{:36} {:>9} {:>10} {:>18}", "", "us", "x AWS-LC", "quartiles");
    for subject in subjects {
        let ratios = subjects[0].micros().zip(subject.micros()).map(|(aws, own)| aws / own);
        let [first, median, third] = quartiles(ratios);
        let [_, micros, _] = quartiles(subject.micros());
        println!("{:36} {micros:9.2} {median:10.2} {first:9.2}..{third:.2}", subject.name);
    }
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

fn signing_key(random: &mut fastrand::Rng) -> SigningKey {
    let mut secret = [0; 32];
    random.fill(&mut secret);
    secret[0] &= 0x7f;
    SigningKey::from_slice(&secret).expect("below the order")
}

fn sign(keys: &[SigningKey], random: &mut fastrand::Rng) -> Signed {
    let key = random.usize(..keys.len());
    let mut message = vec![0; MESSAGE_LEN];
    random.fill(&mut message);
    let signed: p256::ecdsa::Signature = keys[key].sign(&message);
    let (r, s) = signed.split_bytes();
    let signature = Signature { r: r.into(), s: s.into() };
    Signed { key, message, der: signature.to_der(), signature }
}

fn encode(key: &SigningKey) -> Vec<u8> {
    key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
}

fn hash(message: &[u8]) -> Digest {
    Digest::from_hash(digest(&SHA256, message).as_ref())
}
