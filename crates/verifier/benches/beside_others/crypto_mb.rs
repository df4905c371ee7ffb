//! Intel's crypto_mb, opened at run time: eight signatures at a time by AVX-512 IFMA.
//!
//! It comes with `pip install ipp-crypto intel-cmplr-lib-rt`; the loader has to find it, for example by
//! `LD_LIBRARY_PATH=$VIRTUAL_ENV/lib`.

use std::ptr::null;

use libloading::Library;

type Octets = *const u8;
type Words = *const u64;

/// `mbx_nistp256_ecdsa_verify_mb8` of crypto_mb/ec_nistp256.h: r, s and the message's representative
/// big-endian, affine coordinates of the key in little-endian words (no z), no buffer. Of the status each
/// signature has four bits, of which zero is a valid one.
type Verify = unsafe extern "C" fn(
    *const Octets,
    *const Octets,
    *const Octets,
    *const Words,
    *const Words,
    *const Words,
    *mut u8,
) -> u32;

pub struct CryptoMb {
    verify: Verify,
    _library: Library,
}

pub struct Job<'a> {
    /// Its first half, big-endian.
    pub r: &'a [u8; 32],
    /// Its second half, big-endian.
    pub s: &'a [u8; 32],
    /// What was signed, big-endian.
    pub digest: &'a [u8; 32],
    /// Whose it should be.
    pub key: &'a Point,
}

/// A key's coordinates, least significant word first.
pub struct Point {
    x: [u64; 4],
    y: [u64; 4],
}

impl Point {
    /// The point with this encoding, uncompressed as in SEC 1.
    pub fn from_sec1(sec1: &[u8]) -> Point {
        let words = |octets: &[u8]| {
            let mut words = [0; 4];
            for (word, octets) in words.iter_mut().zip(octets.rchunks(8)) {
                *word = octets.iter().fold(0, |word, octet| word << 8 | u64::from(*octet));
            }
            words
        };
        Point { x: words(&sec1[1..33]), y: words(&sec1[33..65]) }
    }
}

impl CryptoMb {
    /// How many signatures it takes at a time.
    pub const LANES: usize = 8;

    /// Opens `libcrypto_mb.so`; none, loudly, if the system has none or this processor cannot run it.
    pub fn open() -> Option<CryptoMb> {
        if !trackbed_verifier::Path::Ifma.is_available() {
            eprintln!("skipped: crypto_mb needs AVX-512 IFMA");
            return None;
        }
        // SAFETY: the library's initialisers have no requirements.
        let library = match unsafe { Library::new("libcrypto_mb.so") } {
            Ok(library) => library,
            Err(why) => {
                eprintln!("skipped: {why} (pip install ipp-crypto intel-cmplr-lib-rt)");
                return None;
            }
        };
        // SAFETY: the type is that of the header for this name.
        let verify = match unsafe { library.get::<Verify>(b"mbx_nistp256_ecdsa_verify_mb8") } {
            Ok(verify) => *verify,
            Err(why) => {
                eprintln!("skipped: {why}");
                return None;
            }
        };
        Some(CryptoMb { verify, _library: library })
    }

    pub fn verify(&self, jobs: &[Job<'_>; CryptoMb::LANES]) -> bool {
        let each = |octets: fn(&Job<'_>) -> Octets| std::array::from_fn(|lane| octets(&jobs[lane]));
        let r: [Octets; 8] = each(|job| job.r.as_ptr());
        let s: [Octets; 8] = each(|job| job.s.as_ptr());
        let digest: [Octets; 8] = each(|job| job.digest.as_ptr());
        let x: [Words; 8] = std::array::from_fn(|lane| jobs[lane].key.x.as_ptr());
        let y: [Words; 8] = std::array::from_fn(|lane| jobs[lane].key.y.as_ptr());
        // SAFETY: each array has a pointer for each of eight lanes, to 32 octets or four words; without
        // z the points are affine, and a null buffer lets the library use its own memory.
        let status = unsafe {
            (self.verify)(
                r.as_ptr(),
                s.as_ptr(),
                digest.as_ptr(),
                x.as_ptr(),
                y.as_ptr(),
                null(),
                std::ptr::null_mut(),
            )
        };
        status == 0
    }
}
