//! The path by a graphics processor (NVIDIA, compute capability 7.5 or newer): one signature for each
//! of its threads.
//!
//! The kernels are in `p256.cu`. What the program carries is `p256.ptx`, made of it once, which the
//! driver compiles for the device at hand. Batches go to the device in parts, of which one is packed
//! and copied while another is verified. If the device fails, its batch is verified on the processor,
//! and so are all later ones.

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
use crate::item::Item;
use crate::verdict::Verdict;

use device::{Device, PART, PROGRAM};
pub use error::GpuError;
use tables::KeyTables;
use work::{Decided, Work};

/// Verifies on a graphics processor.
pub struct Gpu {
    device: Arc<Device>,
    tables: KeyTables,
    /// Two parts, which take turns.
    works: [Work; 2],
    /// For what the device leaves undecided, and for everything once it has failed.
    processor: Box<dyn VerifierBackend>,
    failure: Option<GpuError>,
}

impl Gpu {
    /// The machine's first graphics processor, with a backend on the processor.
    ///
    /// # Errors
    /// [`GpuError`] says what is missing.
    pub fn open(processor: Box<dyn VerifierBackend>) -> Result<Self, GpuError> {
        static DEVICE: Mutex<Option<Arc<Device>>> = Mutex::new(None);
        let mut shared = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
        let device = match &*shared {
            Some(device) => Arc::clone(device),
            None => Arc::clone(shared.insert(Arc::new(Device::open(None, PROGRAM)?))),
        };
        Self::with_device(device, processor)
    }

    /// As [`open`](Self::open), with another file for the driver, or a program that was compiled for
    /// the device beforehand; the device is shared with no one.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn open_with(
        processor: Box<dyn VerifierBackend>,
        driver: Option<&OsStr>,
        program: Option<&[u8]>,
    ) -> Result<Self, GpuError> {
        let device = Device::open(driver, program.unwrap_or(PROGRAM))?;
        Self::with_device(Arc::new(device), processor)
    }

    fn with_device(
        device: Arc<Device>,
        processor: Box<dyn VerifierBackend>,
    ) -> Result<Self, GpuError> {
        device.driver.enter()?;
        let tables = KeyTables::new(&device.driver)?;
        let works = [Work::new(&device.driver)?, Work::new(&device.driver)?];
        Ok(Self { device, tables, works, processor, failure: None })
    }

    /// The device's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.device.driver.name()
    }

    /// Runs the kernels of the last part again, `times` times, without copying anything; returns how
    /// many signatures each run has. For measurements.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn repeat(&mut self, times: usize) -> Result<usize, GpuError> {
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
        for (number, part) in items.chunks(PART).enumerate() {
            let work = &mut self.works[number % 2];
            collect(work)?;
            work.begin(&self.device, &mut self.tables, number * PART, part)?;
        }
        self.works.iter_mut().try_for_each(collect)
    }
}

impl Gpu {
    /// Verifies what the device has left undecided.
    fn decide(&mut self, items: &[Item<'_>], undecided: &[usize], verdicts: &mut [Verdict]) {
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
        if self.failure.is_none() {
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

    fn preferred_batch(&self) -> usize {
        PART
    }

    fn clock(&self) -> Clock {
        Clock::Elapsed
    }

    fn failure(&self) -> Option<String> {
        self.failure.as_ref().map(ToString::to_string)
    }
}
