//! Which backends there are.

use crate::Path;
use crate::gpu::Gpu;
use crate::portable::Portable;

use super::cpu::Cpu;
use super::{Unavailable, VerifierBackend};

type Open = fn() -> Result<Box<dyn VerifierBackend>, Unavailable>;

/// How each path is opened.
const BACKENDS: [(Path, Open); 4] =
    [(Path::Portable, || Ok(portable())), (Path::Ifma, ifma), (Path::Neon, neon), (Path::Gpu, gpu)];

impl Path {
    /// The fastest one on the processor, which any batch gains from, of those whose time was measured.
    #[must_use]
    pub fn fastest() -> Self {
        if Self::Ifma.is_available() { Self::Ifma } else { Self::Portable }
    }

    /// Whether this machine supports it. For a GPU, that means to open it.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.open().is_ok()
    }

    pub(crate) fn open(self) -> Result<Box<dyn VerifierBackend>, Unavailable> {
        let found = BACKENDS.iter().find(|(path, _)| *path == self);
        found.map_or_else(|| Ok(portable()), |(_, open)| open())
    }
}

/// The one that every machine has.
pub(crate) fn portable() -> Box<dyn VerifierBackend> {
    Box::new(Cpu::new(Path::Portable, Portable::default()))
}

fn ifma() -> Result<Box<dyn VerifierBackend>, Unavailable> {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = crate::ifma::Lanes::detect() {
        return Ok(Box::new(Cpu::new(Path::Ifma, lanes)));
    }
    Err(Unavailable::Instructions("AVX-512 IFMA"))
}

fn neon() -> Result<Box<dyn VerifierBackend>, Unavailable> {
    #[cfg(target_arch = "aarch64")]
    if let Some(lanes) = crate::neon::Lanes::detect() {
        return Ok(Box::new(Cpu::new(Path::Neon, lanes)));
    }
    Err(Unavailable::Instructions("NEON"))
}

fn gpu() -> Result<Box<dyn VerifierBackend>, Unavailable> {
    Ok(Box::new(Gpu::open(Path::fastest().open()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_backend() {
        assert_eq!(BACKENDS.map(|(path, _)| path), Path::ALL);
    }
}
