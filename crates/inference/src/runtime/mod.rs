//! What runs a model: ONNX Runtime where it is found, else rten where it is built in.
//!
//! ONNX Runtime is the user's own (`pip install onnxruntime`) and is opened when the program runs:
//! nothing is downloaded or built for it, and a GPU build is used as it is. rten is a library in Rust
//! that is compiled into this program (the feature `rten`). It is slower, and always there.

mod ask;
mod open;
mod search;

use std::fmt;

use trackbed_core::named;

pub use open::{OnnxRuntime, Provider, RuntimeError};
pub use search::Search;

named! {
    /// The runtimes that there are.
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
    /// ONNX Runtime, opened.
    OnnxRuntime(OnnxRuntime),
    /// rten.
    #[cfg(feature = "rten")]
    Rten,
}

impl Runtime {
    /// The runtime of `kind`. Without one, ONNX Runtime where it is found, else rten.
    ///
    /// # Errors
    /// If there is none; the text says how to get one. A library that was named and cannot be used is an
    /// error too.
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

    /// Whether this machine has no runtime at all, and the user has named none. Nothing is opened: this
    /// starts no thread.
    pub fn is_missing(search: &Search) -> bool {
        let cannot_open = cfg!(target_feature = "crt-static");
        built_in().is_none() && search.named().is_none() && (cannot_open || search.find().is_none())
    }

    /// ONNX Runtime, if it is that.
    pub fn library(&self) -> Option<&OnnxRuntime> {
        match self {
            Runtime::OnnxRuntime(library) => Some(library),
            #[cfg(feature = "rten")]
            Runtime::Rten => None,
        }
    }

    /// Which one it is.
    pub fn kind(&self) -> RuntimeKind {
        self.library().map_or(RuntimeKind::Rten, |_| RuntimeKind::OnnxRuntime)
    }
}

/// Its name for people, with the version where that is known.
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
