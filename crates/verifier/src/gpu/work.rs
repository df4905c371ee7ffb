//! A part of a batch on its way to the device and back.

use std::sync::Arc;

use crate::item::{Item, Verdict};
use crate::path::Path;

use super::device::{BLOCK, Device, EACH};
use super::driver::{Address, Driver, Memory, Pinned, Stream};
use super::error::GpuError;
use super::tables::KeyTables;

/// What the kernels call `Job`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Job {
    digest: [u8; 32],
    r: [u8; 32],
    s: [u8; 32],
    /// The limbs of x and y, or the place of the key's table and zeros.
    key: [u64; 8],
}

/// The size of what the kernels call `Scalars`.
const SCALARS_BYTES: usize = 128;

pub(super) enum Decided {
    As(Verdict),
    /// Its formulae do not hold for these points: the processor has complete ones.
    Not,
}

/// Room for a part. The jobs of keys without tables stand first, those with tables last.
pub(super) struct Work {
    // Dropped first: nothing else is in use once it has been waited for.
    stream: Stream,
    jobs: Pinned<Job>,
    outcomes: Pinned<u8>,
    /// Which item of the batch each job is of.
    items: Vec<usize>,
    plain: usize,
    is_pending: bool,
    on_device: OnDevice,
}

struct OnDevice {
    jobs: Memory,
    scalars: Memory,
    outcomes: Memory,
}

impl Work {
    /// Room for `most` signatures.
    pub(super) fn new(driver: &Arc<Driver>, most: usize) -> Result<Self, GpuError> {
        // SAFETY: zeros are a job.
        let jobs = unsafe { Pinned::new(driver, most) }?;
        // SAFETY: zeros are octets.
        let outcomes = unsafe { Pinned::new(driver, most) }?;
        let on_device = OnDevice {
            jobs: Memory::new(driver, most * size_of::<Job>())?,
            scalars: Memory::new(driver, most * SCALARS_BYTES)?,
            outcomes: Memory::new(driver, most)?,
        };
        let stream = Stream::new(driver)?;
        Ok(Self {
            stream,
            jobs,
            outcomes,
            items: Vec::new(),
            plain: 0,
            is_pending: false,
            on_device,
        })
    }

    /// Packs items, for which there is room, and gives them to the device. `first` is the number of the
    /// first one in its batch.
    pub(super) fn begin(
        &mut self,
        device: &Device,
        tables: &mut KeyTables,
        first: usize,
        items: &[Item<'_>],
    ) -> Result<(), GpuError> {
        self.finish(|_, _| ())?;
        tables.begin_part();
        self.items.clear();
        self.plain = 0;
        self.items.resize(items.len(), 0);
        let (mut plain, mut end) = (0, items.len());
        // SAFETY: the last part has been waited for.
        let jobs = unsafe { self.jobs.as_mut() };
        for (number, item) in items.iter().enumerate() {
            let place = match item.key.table_for(Path::Gpu) {
                Some(table) => tables.place(table)?,
                None => None,
            };
            let mut job = Job {
                digest: item.digest.0,
                r: item.signature.r,
                s: item.signature.s,
                key: [0; 8],
            };
            let at = match place {
                Some(place) => {
                    job.key[0] = place.to_le();
                    end -= 1;
                    end
                }
                None => {
                    job.key = item.key.public().point().limbs().map(u64::to_le);
                    plain += 1;
                    plain - 1
                }
            };
            jobs[at] = job;
            self.items[at] = first + number;
        }
        self.plain = plain;
        self.is_pending = true;
        let (stream, there) = (&self.stream, &self.on_device);
        // SAFETY: `finish` waits before anything touches this memory; the owner calls it before it goes.
        unsafe { stream.copy_in(&there.jobs, &self.jobs, items.len()) }?;
        self.launch(device, tables.address())?;
        // SAFETY: as above; the kernels write an outcome for every job.
        unsafe { self.stream.copy_out(&mut self.outcomes, &self.on_device.outcomes, items.len()) }
    }

    fn launch(&self, device: &Device, tables: Address) -> Result<(), GpuError> {
        let OnDevice { jobs, scalars, outcomes } = &self.on_device;
        let (jobs, scalars, outcomes) = (jobs.address, scalars.address, outcomes.address);
        let (count, plain) = (self.items.len(), self.plain);
        let (generator, with_tables) = (device.generator.address, count - plain);
        let launch = |kernel, each: usize, count: usize, arguments: &mut [u64]| {
            if count == 0 {
                return Ok(());
            }
            // SAFETY: these are the kernels' arguments, in their order; the memory has room for as
            // many signatures, and `finish` or `drop` waits before it goes.
            unsafe { self.stream.launch(kernel, count.div_ceil(each), BLOCK, arguments) }
        };
        let mut arguments = [jobs, scalars, count as u64];
        launch(device.scalars, BLOCK * EACH, count, &mut arguments)?;
        let mut arguments = [jobs, scalars, outcomes, generator, plain as u64];
        launch(device.plain, BLOCK, plain, &mut arguments)?;
        let first = plain as u64;
        let jobs = jobs + first * size_of::<Job>() as u64;
        let scalars = scalars + first * SCALARS_BYTES as u64;
        let mut arguments =
            [jobs, scalars, outcomes + first, generator, tables, with_tables as u64];
        launch(device.with_tables, BLOCK, with_tables, &mut arguments)
    }

    /// Runs the kernels again; returns how many signatures they verify.
    pub(super) fn repeat(
        &mut self,
        device: &Device,
        tables: Address,
        times: usize,
    ) -> Result<usize, GpuError> {
        (0..times).try_for_each(|_| self.launch(device, tables))?;
        self.stream.wait()?;
        Ok(self.items.len())
    }

    /// Waits for the part, if there is one, and calls `tell` with each item's number in the batch.
    pub(super) fn finish(&mut self, mut tell: impl FnMut(usize, Decided)) -> Result<(), GpuError> {
        if std::mem::take(&mut self.is_pending) {
            self.stream.wait()?;
            // SAFETY: nothing else is queued.
            let outcomes = unsafe { self.outcomes.as_mut() };
            self.items
                .iter()
                .zip(outcomes)
                .for_each(|(item, outcome)| tell(*item, decided(*outcome)));
        }
        Ok(())
    }
}

/// The numbers of the enumeration `Outcome` in `p256.cu`.
fn decided(outcome: u8) -> Decided {
    match outcome {
        0xa5 => Decided::As(Verdict::Mismatch),
        0x5a => Decided::As(Verdict::Valid),
        0x33 => Decided::As(Verdict::OutOfRange),
        _ => Decided::Not,
    }
}
