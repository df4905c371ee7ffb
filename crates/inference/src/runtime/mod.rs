//! Runtimes for models: ONNX Runtime if it is found, otherwise rten if it is built in.
//!
//! ONNX Runtime is installed by the user (`pip install onnxruntime`) and loaded at run time:
//! nothing is downloaded or built, and GPU builds work unchanged. rten is a Rust library compiled
//! into this program (the feature `rten`). It is slower, but always available.

mod open;
mod search;

use std::fmt;

use trackbed_core::named;

pub use open::{OnnxRuntime, Provider, RuntimeError};
pub use search::Search;

named! {
    /// The supported runtimes.
    pub enum RuntimeKind {
        /// ONNX Runtime.
        OnnxRuntime = "onnxruntime",
        /// rten.
        Rten = "rten",
    }
}

/// A runtime that is ready to load models.
#[derive(Clone, Debug)]
pub enum Runtime {
    /// ONNX Runtime, loaded.
    OnnxRuntime(OnnxRuntime),
    /// rten.
    #[cfg(feature = "rten")]
    Rten,
}

impl Runtime {
    /// The runtime of `kind`; by default, ONNX Runtime if it is found, otherwise rten.
    ///
    /// # Errors
    /// If there is none; the text says how to get one. Also if the given library cannot be used.
    pub fn open(search: &Search, kind: Option<RuntimeKind>) -> Result<Runtime, RuntimeError> {
        if kind == Some(RuntimeKind::Rten) {
            return built_in().ok_or(RuntimeError::WithoutRten);
        }
        let fallback = |why| match (&why, kind) {
            (RuntimeError::Missing | RuntimeError::Static, None) => built_in().ok_or(why),
            _ => Err(why),
        };
        OnnxRuntime::open(search).map(Runtime::OnnxRuntime).or_else(fallback)
    }

    /// Whether this machine has no runtime at all, and the user has given none. Nothing is loaded,
    /// so no thread is started.
    pub fn is_missing(search: &Search) -> bool {
        let cannot_open = cfg!(target_feature = "crt-static");
        built_in().is_none() && search.named().is_none() && (cannot_open || search.find().is_none())
    }

    /// The ONNX Runtime, if it is one.
    pub fn library(&self) -> Option<&OnnxRuntime> {
        match self {
            Runtime::OnnxRuntime(library) => Some(library),
            #[cfg(feature = "rten")]
            Runtime::Rten => None,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> RuntimeKind {
        self.library().map_or(RuntimeKind::Rten, |_| RuntimeKind::OnnxRuntime)
    }
}

/// Its display name, with the version if known.
impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.library().map(OnnxRuntime::version) {
            Some(Some(version)) => write!(f, "ONNX Runtime {version}"),
            Some(None) => f.write_str("ONNX Runtime"),
            None => f.write_str("rten"),
        }
    }
}

fn built_in() -> Option<Runtime> {
    #[cfg(feature = "rten")]
    return Some(Runtime::Rten);
    #[cfg(not(feature = "rten"))]
    None
}
