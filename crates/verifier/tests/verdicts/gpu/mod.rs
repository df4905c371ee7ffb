//! The kernels for graphics processors, compiled for this processor, behind a driver in place of
//! NVIDIA's (`driver.cpp`).

use std::ffi::CString;
use std::path::{self, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libloading::{Library, Symbol};
use p256::ecdsa::signature::hazmat::PrehashSigner as _;
use sha2::{Digest as _, Sha256};
use trackbed_verifier::gpu::{Gpu, GpuError, Settings};
use trackbed_verifier::{
    Digest, Item, Key, KeyTable, Path, PublicKey, Signature, Verdict, Verifier, VerifierBackend,
};

use crate::judges::Judged;
use crate::random;

/// The driver's file; none, loudly, without a compiler.
fn driver() -> Option<&'static PathBuf> {
    static DRIVER: OnceLock<Option<PathBuf>> = OnceLock::new();
    DRIVER.get_or_init(|| build("kernels", &[])).as_ref()
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verdicts/gpu");

fn build(name: &str, options: &[String]) -> Option<PathBuf> {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("libcuda-{name}.so"));
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-O2", "-shared", "-fPIC"]).args(options).arg("-o").arg(&file);
    let status = command.arg(format!("{FOLDER}/driver.cpp")).status();
    // An emulator gives a missing program the status that a shell does.
    let Some(status) = status.ok().filter(|status| status.code() != Some(127)) else {
        assert!(std::env::var_os("CI").is_none(), "install a C++ compiler");
        println!("SKIPPED: the kernels for graphics processors, for lack of a C++ compiler");
        return None;
    };
    assert!(status.success(), "the driver does not compile");
    Some(file)
}

fn open() -> Option<Result<Gpu, GpuError>> {
    Some(open_with(driver()?, Verifier::new().into_backend(), Some(0)))
}

/// Small parts and few places for tables, so that both are used again and again.
fn open_with(
    driver: &path::Path,
    processor: Box<dyn VerifierBackend>,
    least: Option<usize>,
) -> Result<Gpu, GpuError> {
    let driver = Some(driver.as_os_str());
    // SAFETY: it has NVIDIA's interface, and is given the crate's own program.
    unsafe {
        Gpu::open_with(processor, &Settings { driver, program: None, part: 200, tables: 5, least })
    }
}

/// One backend for all tests: its table of G takes a while.
#[derive(Clone, Copy)]
pub struct Shared(&'static Mutex<Gpu>);

pub fn shared() -> Option<Shared> {
    static GPU: OnceLock<Option<Mutex<Gpu>>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| open().map(|gpu| Mutex::new(gpu.expect("it opens"))));
    gpu.as_ref().map(Shared)
}

impl VerifierBackend for Shared {
    fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        let mut gpu = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gpu.verify(items, verdicts);
        assert_eq!(gpu.failure(), None);
    }

    fn preferred_batch(&self) -> usize {
        1
    }
}

/// Lets this thread's calls of a function fail, after some that do not.
fn fail(call: &str, times: i32, code: i32) {
    let call = CString::new(call).expect("no zero");
    let file = driver().expect("a compiler");
    // SAFETY: it is the library that the test has built, with this function.
    unsafe {
        let library = Library::new(file).expect("it loads");
        let fail: Symbol<'_, unsafe extern "C" fn(*const i8, i32, i32)> =
            library.get("fail").expect("it is there");
        fail(call.as_ptr().cast(), times, code);
    }
}

#[test]
fn what_is_missing_is_named() {
    if driver().is_none() {
        return;
    }
    let none = open_with("/no/libcuda.so".as_ref(), Verifier::new().into_backend(), None);
    assert_eq!(none.err(), Some(GpuError::NoDriver));
    let old = GpuError::OldDevice { name: "a processor".to_owned(), major: 6, minor: 5 };
    let unknown = GpuError::Driver { call: "cuInit", name: "CUDA_ERROR_UNKNOWN".to_owned() };
    for (call, code, error) in [
        ("cuInit", 100, GpuError::NoDevice),
        ("cuInit", 803, GpuError::OtherDriver),
        ("cuInit", 999, unknown),
        ("major", 6, old),
        ("cuModuleLoadData", 221, GpuError::NoCompiler),
        ("cuModuleLoadData", 222, GpuError::OldDriver),
        ("cuMemAlloc", 2, GpuError::Memory),
        ("cuMemHostAlloc", 2, GpuError::Memory),
    ] {
        fail(call, 0, code);
        assert_eq!(open().expect("a driver").err(), Some(error), "{call}");
        fail(call, i32::MAX, 0);
    }
}

/// A processor for what the device leaves undecided, which counts it.
struct Counting(Arc<Mutex<usize>>);

impl VerifierBackend for Counting {
    fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        *self.0.lock().expect("whole") += items.len();
        Verifier::new().verify(items, verdicts);
    }

    fn preferred_batch(&self) -> usize {
        1
    }
}

/// With the kernels in p256.cu, and with those of p256.ptx, instruction by instruction.
fn check(driver: &path::Path, count: usize) {
    let undecided = Arc::new(Mutex::new(0));
    let counting = Box::new(Counting(Arc::clone(&undecided)));
    let mut gpu = open_with(driver, counting, Some(0)).expect("it opens");
    let (signers, cases, expected) = random::cases(11, count, crate::judges::others);
    let judged = Judged { signers: &signers, cases: &cases, expected: &expected };
    // More than a block, and less.
    for way in [0, 1] {
        judged.assert_backend(&mut gpu, (Path::Gpu, way), &[129, count]);
    }
    assert_eq!(gpu.failure(), None);
    assert_eq!(*undecided.lock().expect("whole"), 0, "the GPU decides all of these signatures");
    assert_eq!(gpu.undecided(), 0);
}

#[test]
fn the_device_decides_all_but_special_signatures() {
    driver().into_iter().for_each(|driver| check(driver, 1_100));
}

/// The break-even is set, or measured when the GPU is opened.
#[test]
fn small_batches_stay_on_the_cpu() {
    let Some(driver) = driver() else { return };
    let count = Arc::new(Mutex::new(0));
    let opened = |least| open_with(driver, Box::new(Counting(Arc::clone(&count))), least);
    let (signers, cases, expected) = random::cases(12, 40, crate::judges::others);
    let judged = Judged { signers: &signers, cases: &cases, expected: &expected };
    let mut gpu = opened(Some(20)).expect("it opens");
    for (batch, on_cpu) in [(20, 0), (19, 40)] {
        judged.assert_backend(&mut gpu, (Path::Gpu, 0), &[batch]);
        assert_eq!(*count.lock().expect("whole"), on_cpu, "{batch}");
    }
    // This driver's GPU is the processor itself: it takes time for a few.
    let measured = opened(None).expect("it opens").break_even().expect("it measures");
    assert!((1..1_000_000).contains(&measured), "{measured}");
}

/// The source's hash, which the compiling script writes down.
#[test]
fn the_program_for_drivers_was_made_of_this_source() {
    let read = |name: &str| {
        let path = format!("{}/src/gpu/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("a text")
    };
    let hash: String =
        Sha256::digest(read("p256.cu")).iter().map(|octet| format!("{octet:02x}")).collect();
    let first = read("p256.ptx").lines().next().map(str::to_owned).unwrap_or_default();
    assert!(first.ends_with(&hash), "run contrib/gpu/compile.py");
}

#[test]
#[ignore = "thorough: nvidia-cuda-nvrtc-cu12"]
fn the_program_for_drivers_is_what_the_source_compiles_to() {
    let python = std::env::var_os("VIRTUAL_ENV").map_or_else(
        || "python3".into(),
        |folder| PathBuf::from(folder).join("bin/python3").into_os_string(),
    );
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/gpu/compile.py");
    let ended = Command::new(python).args([script, "--check"]).output().expect("python3");
    let why = String::from_utf8_lossy(&ended.stderr);
    if why.contains("NVRTC is missing") {
        assert!(std::env::var_os("CI").is_none(), "{why}");
        println!("SKIPPED: the program for drivers is not compiled again: {why}");
        return;
    }
    assert!(ended.status.success(), "{why}");
}

#[test]
#[ignore = "thorough: python3"]
fn the_program_for_drivers_gives_the_same_verdicts() {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gpu/p256.ptx");
    let script = format!("{FOLDER}/ptx_to_c.py");
    let Ok(translated) = Command::new("python3").args([&script, text]).output() else {
        println!("SKIPPED: the program for drivers, for lack of python3");
        return;
    };
    assert!(translated.status.success(), "{}", String::from_utf8_lossy(&translated.stderr));
    let header = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels.h");
    std::fs::write(&header, translated.stdout).expect("a file");
    let options = [format!("-DPTX_KERNELS=\"{}\"", header.display()), "-w".to_owned()];
    build("ptx", &options).into_iter().for_each(|driver| check(&driver, 2_000));
}

/// A device that is lost in the middle of a batch, or later: verdicts stay right.
#[test]
fn verdicts_survive_the_device() {
    for (call, times) in [("cuLaunchKernel", 1), ("cuStreamSynchronize", 0), ("cuLaunchKernel", 4)]
    {
        let Some(gpu) = open() else { return };
        let mut gpu = gpu.expect("it opens");
        let signer = p256::ecdsa::SigningKey::from_slice(&[7; 32]).expect("a key");
        let point = signer.verifying_key().to_sec1_point(false);
        let key = PublicKey::from_sec1(point.as_bytes()).expect("a point");
        let table = KeyTable::new(&key, Path::Gpu);
        let signed: p256::ecdsa::Signature = signer.sign_prehash(&[9; 32]).expect("it signs");
        let (r, s) = signed.split_bytes();
        let signature = Signature { r: r.into(), s: s.into() };
        let digests = [9, 8].map(|octet| Digest([octet; 32]));
        let items = [0, 1, 0, 1].map(|number: usize| {
            let key = if number < 2 { Key::Plain(&key) } else { Key::Table(&table) };
            Item { key, digest: &digests[number % 2], signature: &signature }
        });
        fail(call, times, 700);
        for _ in 0..3 {
            let mut verdicts = Vec::new();
            gpu.verify(&items, &mut verdicts);
            let valid: Vec<bool> = verdicts.iter().map(|verdict| verdict.is_valid()).collect();
            assert_eq!(valid, [true, false, true, false]);
        }
        fail(call, i32::MAX, 0);
        let why = gpu.failure().expect("it has failed");
        assert!(why.contains(call) && why.contains("error 700"), "{why}");
    }
}
