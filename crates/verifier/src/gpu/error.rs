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
    #[error("the NVIDIA driver was updated; restart the machine")]
    OtherDriver,
    #[error("the NVIDIA driver has no PTX compiler; install libnvidia-ptxjitcompiler")]
    NoCompiler,
    #[error("the NVIDIA driver finds no GPU")]
    NoDevice,
    #[error("{name} has compute capability {major}.{minor}; 7.5 or newer is needed")]
    OldDevice { name: String, major: i32, minor: i32 },
    #[error("too little free memory; about 500 MB of the GPU's are needed for each thread")]
    Memory,
    #[error("the GPU's verdicts on known signatures are wrong; update the NVIDIA driver")]
    Wrong,
    #[error("the GPU failed in {call}: {name}")]
    Driver { call: &'static str, name: String },
}
