//! What can be wrong with a graphics processor.

/// Why a graphics processor cannot be used, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum GpuError {
    #[error("no NVIDIA driver is installed (libcuda.so.1 was not found)")]
    NoDriver,
    #[error("the NVIDIA driver is too old; version 525 or newer is needed")]
    OldDriver,
    #[error("the NVIDIA driver finds no GPU")]
    NoDevice,
    #[error("{name} has compute capability {major}.{minor}; 7.5 or newer is needed")]
    OldDevice { name: String, major: i32, minor: i32 },
    #[error("the GPU has too little free memory; about {} MB are needed", NEEDED_MB)]
    Memory,
    #[error("the GPU failed in {call}: {name}")]
    Driver { call: &'static str, name: String },
}

/// The table of G, the working memory and the smallest number of tables of keys.
const NEEDED_MB: usize = 100;
