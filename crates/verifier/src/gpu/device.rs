//! A device with the kernels and the table of G.

use std::ffi::OsStr;
use std::sync::Arc;

use crate::curve::{Affine, Form, Table, Windows};

use super::driver::{Driver, Kernel, Memory};
use super::error::GpuError;

pub(super) const PROGRAM: &[u8] = include_bytes!("p256.ptx");

/// Threads of a block, as in `p256.cu`.
pub(super) const BLOCK: usize = 128;
/// Signatures of a thread that works out scalars, as in `p256.cu`.
pub(super) const EACH: usize = 4;
/// 16 additions a scalar, by 34 MB of the device's memory.
const GENERATOR_WINDOWS: Windows = Windows::new(16);

/// A device, ready for any number of verifiers.
pub(super) struct Device {
    pub driver: Arc<Driver>,
    pub scalars: Kernel,
    pub plain: Kernel,
    pub with_tables: Kernel,
    pub generator: Memory,
}

impl Device {
    /// # Safety
    /// As [`Driver::open`].
    #[expect(unsafe_code, reason = "loads code that the caller names")]
    pub(super) unsafe fn open(driver: Option<&OsStr>, program: &[u8]) -> Result<Self, GpuError> {
        // SAFETY: as the caller promises.
        let driver = Arc::new(unsafe { Driver::open(driver, program) }?);
        let table = Table::new(&Affine::GENERATOR, GENERATOR_WINDOWS, Form::Portable);
        let octets = table.octets();
        let generator = Memory::new(&driver, octets.len())?;
        generator.write(0, &octets)?;
        Ok(Self {
            scalars: driver.kernel(c"scalars")?,
            plain: driver.kernel(c"verify_plain")?,
            with_tables: driver.kernel(c"verify_with_tables")?,
            generator,
            driver,
        })
    }
}
