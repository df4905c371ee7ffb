//! Measures the path for graphics processors, and compares its verdicts with the processor's:
//!
//! ```text
//! measure_gpu [--verdicts N] [--batches N,N,...] [--program FILE] [--driver FILE]
//! ```
//!
//! Prints one JSON object. `--program` is a binary for the device in place of the PTX that the crate
//! carries, `--driver` another library in place of NVIDIA's. `contrib/gpu/measure.sh` runs it.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use trackbed_verifier::gpu::{Gpu, Settings};
use trackbed_verifier::{
    Digest, Item, Key, KeyTable, Path, PublicKey, Signature, Verdict, Verifier, VerifierBackend,
};

const KEYS: usize = 320;
/// Each figure is of at least this long.
const LEAST: Duration = Duration::from_millis(200);

struct Signed {
    key: usize,
    digest: Digest,
    signature: Signature,
}

fn main() -> ExitCode {
    let failed = |why| eprintln!("error: {why}");
    measure_all().map_err(failed).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn measure_all() -> Result<(), Box<dyn Error>> {
    let of = |name: &str| {
        let found = std::env::args_os().skip_while(|argument| argument != name).nth(1);
        found.map(OsString::into_string).transpose().map_err(|_| format!("{name}: not a text"))
    };
    let verdicts: usize = of("--verdicts")?.map_or(Ok(1_000_000), |count| count.parse())?;
    let batches = of("--batches")?.unwrap_or_else(|| "64,1024,16384,65536,262144,1048576".into());
    let batches: Vec<usize> = batches.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let program = of("--program")?.map(std::fs::read).transpose()?;
    let driver = of("--driver")?.map(OsString::from);
    let (driver, program) = (driver.as_deref(), program.as_deref());

    let begin = Instant::now();
    let settings = Settings { driver, program, least: Some(0), ..Settings::default() };
    // SAFETY: the user names a driver and a program that fit.
    let mut gpu = unsafe { Gpu::open_with(Verifier::new().into_backend(), &settings) }?;
    let (device, opened) = (gpu.name().replace(['"', '\\'], ""), begin.elapsed().as_millis());
    println!("{{\"device\": \"{device}\", \"version\": \"{}\", \"open_ms\": {opened},", VERSION);
    println!("\"break_even\": {},", gpu.break_even()?);
    let (publics, signed) = sign(verdicts.div_ceil(4).max(4_096));
    let tables: Vec<KeyTable> = publics.iter().map(|key| KeyTable::new(key, Path::Gpu)).collect();
    let wrong = compare(&mut gpu, &signed, &publics, &tables, verdicts);
    let (undecided, comma) = (gpu.undecided(), if batches.is_empty() { "" } else { "," });
    println!("\"verdicts\": {verdicts}, \"wrong\": {wrong}, \"left_to_cpu\": {undecided},");
    println!("\"throughput\": [");
    for (number, (has_tables, batch)) in
        [true, false].iter().flat_map(|it| batches.iter().map(move |batch| (it, batch))).enumerate()
    {
        let taken = signed.iter().cycle().take((*batch).max(1));
        let items: Vec<Item<'_>> = taken
            .map(|signed| match has_tables {
                true => item(signed, Key::Table(&tables[signed.key])),
                false => item(signed, Key::Plain(&publics[signed.key])),
            })
            .collect();
        let comma = if number + 1 < 2 * batches.len() { comma } else { "" };
        println!("  {}{comma}", measure(&mut gpu, &items, *has_tables)?);
    }
    let failure = gpu.failure().unwrap_or_default().replace(['"', '\\'], "");
    println!("], \"left_to_cpu_in_all\": {}, \"failure\": \"{failure}\"}}", gpu.undecided());
    match wrong == 0 && failure.is_empty() && gpu.undecided() == 0 {
        true => Ok(()),
        false => Err("verdicts differ, or the GPU left some to the CPU".into()),
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn item<'a>(signed: &'a Signed, key: Key<'a>) -> Item<'a> {
    Item { key, digest: &signed.digest, signature: &signed.signature }
}

/// Signatures a second in batches as large as `items`, and what one batch takes.
fn measure(gpu: &mut Gpu, items: &[Item<'_>], tables: bool) -> Result<String, Box<dyn Error>> {
    let mut verdicts = Vec::new();
    // Tables are copied by and by: until then, keys go without.
    (0..3).for_each(|_| gpu.verify(items, &mut verdicts));
    let mut nanos = Vec::new();
    let begin = Instant::now();
    while nanos.len() < 3 || begin.elapsed() < LEAST {
        let begin = Instant::now();
        gpu.verify(items, &mut verdicts);
        nanos.push(begin.elapsed().as_nanos());
    }
    let wrong = verdicts.iter().filter(|verdict| !verdict.is_valid()).count();
    nanos.sort_unstable();
    let median = nanos[nanos.len() / 2];
    let (mut times, mut last) = (1, Duration::ZERO);
    let mut count = 0;
    while last < LEAST && times < 1 << 16 {
        times *= 2;
        let begin = Instant::now();
        count = gpu.repeat(times)?;
        last = begin.elapsed();
    }
    let rate = |count: usize, nanos: u128| (count as f64 * 1e9 / nanos as f64).round();
    Ok(format!(
        "{{\"batch\": {}, \"tables\": {tables}, \"wrong\": {wrong}, \"batch_us\": {:.1}, \"per_s\": {}, \"without_transfers\": \
         {{\"batch\": {count}, \"per_s\": {}}}}}",
        items.len(),
        median as f64 / 1e3,
        rate(items.len(), median),
        rate(count * times, last.as_nanos())
    ))
}

/// How many of so many verdicts differ from the processor's: a tenth is damaged, in every field and
/// many ways, and a third has no table.
fn compare(
    gpu: &mut Gpu,
    signed: &[Signed],
    publics: &[PublicKey],
    tables: &[KeyTable],
    count: usize,
) -> usize {
    let mut random = fastrand::Rng::with_seed(3);
    let all: Vec<Signed> = (0..count)
        .map(|number| damaged(&signed[number % signed.len()], number, &mut random))
        .collect();
    let fast: Vec<KeyTable> =
        publics.iter().map(|key| KeyTable::new(key, Path::fastest())).collect();
    let mut verdicts = [Vec::new(), Vec::new()];
    for (verdicts, tables) in verdicts.iter_mut().zip([tables, &fast]) {
        let numbered = all.iter().enumerate();
        let items: Vec<Item<'_>> = numbered
            .map(|(number, signed)| match number % 3 {
                0 => item(signed, Key::Plain(&publics[signed.key])),
                _ => item(signed, Key::Table(&tables[signed.key])),
            })
            .collect();
        match std::ptr::eq(tables, fast.as_slice()) {
            true => Verifier::new().verify(&items, verdicts),
            false => gpu.verify(&items, verdicts),
        }
    }
    let [ours, expected]: [Vec<Verdict>; 2] = verdicts;
    ours.iter().zip(&expected).filter(|(ours, expected)| ours != expected).count()
}

/// The same signature, or every tenth with another octet, an edge, or another key.
fn damaged(signed: &Signed, number: usize, random: &mut fastrand::Rng) -> Signed {
    let (mut key, mut digest, mut signature) = (signed.key, signed.digest, signed.signature);
    if number.is_multiple_of(10) {
        let field = match random.usize(..4) {
            0 => &mut signature.r,
            1 => &mut signature.s,
            2 => &mut digest.0,
            _ => {
                key = (key + 1) % KEYS;
                return Signed { key, digest, signature };
            }
        };
        match random.usize(..4) {
            0 => *field = [0; 32],
            1 => *field = [0xff; 32],
            2 => *field = ORDER,
            _ => field[random.usize(..32)] ^= 1 << random.u8(..8),
        }
    }
    Signed { key, digest, signature }
}

const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
    0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// Keys, and signatures by each in turn, on all processors.
fn sign(count: usize) -> (Vec<PublicKey>, Vec<Signed>) {
    let secret = |number: usize| {
        let mut octets = [0x5a; 32];
        octets[24..].copy_from_slice(&(number as u64 + 1).to_be_bytes());
        SigningKey::from_slice(&octets).expect("below the order")
    };
    let secrets: Vec<SigningKey> = (0..KEYS).map(secret).collect();
    let public = |secret: &SigningKey| {
        let point = secret.verifying_key().to_sec1_point(false);
        PublicKey::from_sec1(point.as_bytes()).expect("a point")
    };
    let one = |number: usize| {
        let mut digest = [0xa5; 32];
        digest[..8]
            .copy_from_slice(&(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        let key = number % KEYS;
        let signed: p256::ecdsa::Signature = secrets[key].sign_prehash(&digest).expect("it signs");
        let (r, s) = signed.split_bytes();
        Signed { key, digest: Digest(digest), signature: Signature { r: r.into(), s: s.into() } }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let signed = std::thread::scope(|scope| {
        let part = |thread: usize| {
            let (one, numbers) =
                (&one, (thread * count / threads)..((thread + 1) * count / threads));
            scope.spawn(move || numbers.map(one).collect::<Vec<_>>())
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().expect("it ends")).collect()
    });
    (secrets.iter().map(public).collect(), signed)
}
