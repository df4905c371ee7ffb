//! The path by a GPU (NVIDIA, compute capability 7.5 or newer): one signature for each of its threads.
//!
//! The kernels are in `p256.cu`. What the program carries is `p256.ptx`, compiled of it once, which the
//! driver compiles for the GPU at hand. Batches go there in parts: one part is packed and copied while
//! the GPU verifies another. A batch that the CPU has verified before the GPU returns anything stays on
//! the CPU. If the GPU fails, the CPU verifies the batch and all later ones.

mod device;
#[expect(unsafe_code, reason = "functions of a library in C")]
mod driver;
mod error;
mod tables;
#[expect(unsafe_code, reason = "memory that the device works with")]
mod work;

use std::ffi::OsStr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::{Clock, VerifierBackend};
use crate::engine::monotonic_nanos;
use crate::item::{Item, Key, Verdict};
use crate::key::PublicKey;
use crate::path::Path;
use crate::signature::{Digest, Signature};
use crate::table::KeyTable;

use device::{Device, PROGRAM};
pub use error::GpuError;
use tables::KeyTables;
use work::{Decided, Work};

/// Verifies on a GPU.
pub struct Gpu {
    // Dropped first: once they have been waited for, the GPU uses nothing.
    works: Vec<Work>,
    tables: KeyTables,
    device: Arc<Device>,
    /// For what the GPU leaves undecided, and for everything once it has failed.
    processor: Box<dyn VerifierBackend>,
    part: usize,
    /// Batches with fewer signatures stay on the CPU.
    least: usize,
    undecided: u64,
    failure: Option<GpuError>,
}

/// What is used in place of the defaults.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The file of the driver; none for the system's.
    pub driver: Option<&'a OsStr>,
    /// The kernels, compiled for the GPU at hand; none for those that the crate carries.
    pub program: Option<&'a [u8]>,
    /// Signatures that are packed, copied and verified at once.
    pub part: usize,
    /// Tables of keys that the GPU's memory has room for, if it is large enough.
    pub tables: usize,
    /// The fewest signatures of a batch for the GPU; none for [`Gpu::break_even`].
    pub least: Option<usize>,
}

impl Default for Settings<'_> {
    /// 256 MiB of tables.
    fn default() -> Self {
        let tables = 256 * 1024 * 1024 / KeyTable::BYTES;
        Self { driver: None, program: None, part: 65_536, tables, least: None }
    }
}

/// Parts under way at once.
const WORKS: usize = 2;

impl Gpu {
    /// The machine's first GPU, and a backend on the CPU. All verifiers of a process share what is the
    /// same for all; the first one waits for the driver to compile the kernels, which takes seconds
    /// unless it remembers them.
    ///
    /// # Errors
    /// [`GpuError`] says what is missing.
    #[expect(unsafe_code, reason = "the crate's own kernels and the system's driver")]
    pub fn open(processor: Box<dyn VerifierBackend>) -> Result<Self, GpuError> {
        static DEVICE: Mutex<Option<Arc<Device>>> = Mutex::new(None);
        let mut shared = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
        let device = match &*shared {
            Some(device) => Arc::clone(device),
            // SAFETY: it is the system's driver, and the program is whole.
            None => Arc::clone(shared.insert(Arc::new(unsafe { Device::open(None, PROGRAM) }?))),
        };
        Self::with_device(device, processor, &Settings::default())
    }

    /// As [`open`](Self::open), with other settings and a device of its own.
    ///
    /// # Errors
    /// [`GpuError`].
    ///
    /// # Safety
    /// The driver is one of NVIDIA's interface; the program is whole and made of this crate's source.
    #[expect(unsafe_code, reason = "loads code that the caller names")]
    pub unsafe fn open_with(
        processor: Box<dyn VerifierBackend>,
        settings: &Settings<'_>,
    ) -> Result<Self, GpuError> {
        let program = settings.program.unwrap_or(PROGRAM);
        // SAFETY: as the caller promises.
        let device = unsafe { Device::open(settings.driver, program) }?;
        Self::with_device(Arc::new(device), processor, settings)
    }

    fn with_device(
        device: Arc<Device>,
        processor: Box<dyn VerifierBackend>,
        settings: &Settings<'_>,
    ) -> Result<Self, GpuError> {
        device.driver.enter()?;
        let part = settings.part.max(1);
        let works =
            (0..WORKS).map(|_| Work::new(&device.driver, part)).collect::<Result<_, _>>()?;
        let tables = KeyTables::new(&device.driver, settings.tables.max(1))?;
        let (undecided, failure) = (0, None);
        let mut gpu = Self { works, tables, device, processor, part, least: 0, undecided, failure };
        gpu.prove()?;
        gpu.least = settings.least.map_or_else(|| gpu.break_even(), Ok)?;
        Ok(gpu)
    }

    /// Verifies what is known, with and without a table: a wrong answer may come from the driver's
    /// compiler.
    fn prove(&mut self) -> Result<(), GpuError> {
        let expected = [Verdict::Valid, Verdict::Mismatch, Verdict::Valid, Verdict::Mismatch];
        let (mut verdicts, mut undecided) = (vec![Verdict::OutOfRange; 4], Vec::new());
        with_known(|items| self.verify_there(items, &mut verdicts, &mut undecided))?;
        if verdicts == expected && undecided.is_empty() { Ok(()) } else { Err(GpuError::Wrong) }
    }

    /// Measures how many signatures the CPU verifies while the GPU returns a few.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn break_even(&mut self) -> Result<usize, GpuError> {
        with_known(|few| {
            let many: Vec<Item<'_>> = few.iter().copied().cycle().take(64).collect();
            let (mut verdicts, mut undecided) = (vec![Verdict::Mismatch; 64], Vec::new());
            let [mut there, mut here] = [u64::MAX; 2];
            // What disturbs only adds time.
            for _ in 0..8 {
                let begin = monotonic_nanos();
                self.verify_there(few, &mut verdicts, &mut undecided)?;
                let between = monotonic_nanos();
                self.processor.verify(&many, &mut verdicts);
                there = there.min(between - begin);
                here = here.min(monotonic_nanos() - between);
            }
            Ok(usize::try_from(there.saturating_mul(64) / here.max(1)).unwrap_or(usize::MAX))
        })
    }

    /// The device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.device.driver.name()
    }

    /// Signatures so far that the GPU has left to the CPU.
    #[must_use]
    pub fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Runs the kernels of the last batch's last part with an even number again, `times` times, without
    /// copying anything; returns how many signatures each run has. For measurements.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn repeat(&mut self, times: usize) -> Result<usize, GpuError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.device.driver.enter()?;
        self.works[0].repeat(&self.device, self.tables.address(), times)
    }

    /// Verifies by the device alone; the places of what it leaves undecided go to `undecided`.
    fn verify_there(
        &mut self,
        items: &[Item<'_>],
        verdicts: &mut [Verdict],
        undecided: &mut Vec<usize>,
    ) -> Result<(), GpuError> {
        self.device.driver.enter()?;
        let mut collect = |work: &mut Work| {
            work.finish(|place, decided| match decided {
                Decided::As(verdict) => verdicts[place] = verdict,
                Decided::Not => undecided.push(place),
            })
        };
        for (number, part) in items.chunks(self.part).enumerate() {
            let work = &mut self.works[number % WORKS];
            collect(work)?;
            work.begin(&self.device, &mut self.tables, number * self.part, part)?;
        }
        self.works.iter_mut().try_for_each(collect)
    }
}

impl Gpu {
    /// Verifies what the GPU has left undecided.
    fn decide(&mut self, items: &[Item<'_>], undecided: &[usize], verdicts: &mut [Verdict]) {
        self.undecided += undecided.len() as u64;
        let left: Vec<Item<'_>> = undecided.iter().map(|place| items[*place]).collect();
        let mut decided = Vec::new();
        self.processor.verify(&left, &mut decided);
        for (place, verdict) in undecided.iter().zip(decided) {
            verdicts[*place] = verdict;
        }
    }
}

impl VerifierBackend for Gpu {
    fn verify(&mut self, items: &[Item<'_>], verdicts: &mut Vec<Verdict>) {
        if self.failure.is_none() && items.len() >= self.least {
            verdicts.clear();
            verdicts.resize(items.len(), Verdict::Mismatch);
            let mut undecided = Vec::new();
            match self.verify_there(items, verdicts, &mut undecided) {
                Ok(()) => return self.decide(items, &undecided, verdicts),
                Err(failure) => self.failure = Some(failure),
            }
        }
        self.processor.verify(items, verdicts);
    }

    /// Parts enough for packing and copying to hide behind the kernels.
    fn preferred_batch(&self) -> usize {
        4 * self.part
    }

    fn clock(&self) -> Clock {
        Clock::Elapsed
    }

    fn failure(&self) -> Option<String> {
        self.failure.as_ref().map(ToString::to_string)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // Memory is freed by a thread that uses the GPU. After an error nothing runs any more.
        let _ = self.device.driver.enter();
        for work in &mut self.works {
            let _ = work.finish(|_, _| ());
        }
    }
}

/// Passes on a known signature and a forged one, without a table and then with one.
fn with_known<T>(call: impl FnOnce(&[Item<'_>]) -> Result<T, GpuError>) -> Result<T, GpuError> {
    let key = PublicKey::from_coordinates(&KNOWN_X, &KNOWN_Y).map_err(|_| GpuError::Wrong)?;
    let (table, forged) = (KeyTable::new(&key, Path::Gpu), Digest([7; 32]));
    let keys = [Key::Plain(&key), Key::Table(&table)];
    let both = keys.into_iter().flat_map(|key| [(key, &KNOWN_DIGEST), (key, &forged)]);
    let items: Vec<Item<'_>> =
        both.map(|(key, digest)| Item { key, digest, signature: &KNOWN_SIGNATURE }).collect();
    call(&items)
}

/// The key, the hash of "sample" and its signature in RFC 6979 appendix A.2.5.
const KNOWN_X: [u8; 32] =
    octets("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
const KNOWN_Y: [u8; 32] =
    octets("7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
const KNOWN_DIGEST: Digest =
    Digest(octets("af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf"));
const KNOWN_SIGNATURE: Signature = Signature {
    r: octets("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"),
    s: octets("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"),
};

const fn octets(hexadecimal: &str) -> [u8; 32] {
    let (digits, mut octets, mut place) = (hexadecimal.as_bytes(), [0; 32], 0);
    while place < 64 {
        let digit = digits[place];
        let value = if digit > b'9' { digit - b'a' + 10 } else { digit - b'0' };
        octets[place / 2] = octets[place / 2] * 16 + value;
        place += 1;
    }
    octets
}
