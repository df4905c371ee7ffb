//! Loads ONNX Runtime.

use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::ep;
use ort::logging::LogLevel;
use trackbed_core::named;

use super::search::{Search, version_of};

/// ONNX Runtime in this process. There is at most one; it stays loaded until the process ends.
#[derive(Clone, Debug)]
pub struct OnnxRuntime {
    pub(crate) environment: Environment,
    path: PathBuf,
}

/// Why there is no runtime.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum RuntimeError {
    #[error(
        "ONNX Runtime is not installed: `pip install onnxruntime` (in the active virtual \
         environment, if there is one), or give the path of libonnxruntime.so with --library FILE \
         or ORT_DYLIB_PATH; rten needs nothing installed: {}",
        rten_remedy()
    )]
    Missing,
    #[error(
        "this trackbed was built without rten; build it with `cargo build --release --features \
         rten`, or let ONNX Runtime run the model: `pip install onnxruntime`"
    )]
    WithoutRten,
    #[error(
        "this build of trackbed is linked statically and cannot load ONNX Runtime: use a build \
         for glibc, or run the inference in a separate program with --exec"
    )]
    Static,
    #[error(
        "there is no ONNX Runtime at {0}: give the path of libonnxruntime.so, or a folder or virtual \
         environment into which onnxruntime was installed"
    )]
    NotThere(PathBuf),
    #[error(
        "{path} is ONNX Runtime {version}, but 1.{} or newer is needed: `pip install --upgrade \
         onnxruntime`",
        ort::MINOR_VERSION
    )]
    Old { path: PathBuf, version: String },
    #[error(
        "{path} cannot be used as ONNX Runtime: {why}; install it with `pip install onnxruntime`, \
         or give its path with --library FILE or ORT_DYLIB_PATH"
    )]
    Unusable { path: PathBuf, why: String },
}

named! {
    /// The execution providers of ONNX Runtime, which do the computation. Those for GPUs need a
    /// build of the runtime that has them (`pip install onnxruntime-gpu`).
    #[derive(Default)]
    pub enum Provider {
        /// The CPU.
        #[default]
        Cpu = "cpu",
        /// NVIDIA's CUDA.
        Cuda = "cuda",
        /// NVIDIA's TensorRT, and CUDA for what TensorRT does not support.
        TensorRt = "tensorrt",
    }
}

impl OnnxRuntime {
    /// Loads the library that `search` finds. Once a process has loaded one, that one is returned
    /// for any search; after a failure it is not tried again.
    ///
    /// # Errors
    /// If there is none, or it cannot be used; each says what to do.
    pub fn open(search: &Search) -> Result<OnnxRuntime, RuntimeError> {
        // The environment must not be dropped and recreated: the runtime allows one per process.
        static OPENED: OnceLock<Result<OnnxRuntime, RuntimeError>> = OnceLock::new();
        OPENED.get_or_init(|| OnnxRuntime::open_anew(search)).clone()
    }

    fn open_anew(search: &Search) -> Result<OnnxRuntime, RuntimeError> {
        if cfg!(target_feature = "crt-static") {
            return Err(RuntimeError::Static);
        }
        let path = search.find().ok_or_else(|| match search.named() {
            Some(named) => RuntimeError::NotThere(named.to_owned()),
            None => RuntimeError::Missing,
        })?;
        let unusable = |why: String| RuntimeError::Unusable { path: path.clone(), why };
        let environment = without_panic(|| {
            let builder = ort::init_from(&path).map_err(|why| refusal(&path, &why))?;
            let environment = builder.with_name("trackbed").with_telemetry(false).build();
            let environment = environment.map_err(|why| unusable(why.to_string()))?;
            // Warnings are about optimisations that a model does not allow.
            environment.set_log_level(LogLevel::Error);
            Ok(environment)
        })
        .unwrap_or_else(|why| Err(unusable(why)))?;
        Ok(OnnxRuntime { environment, path })
    }

    /// The path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version in the library's file name, if it has one.
    pub fn version(&self) -> Option<String> {
        let parts = version_of(self.path.file_name()?.to_str()?)?;
        let parts: Vec<String> = parts.iter().map(u64::to_string).collect();
        (!parts.is_empty()).then(|| parts.join("."))
    }

    /// The library's build information: branch, commit, kind of build.
    pub fn build(&self) -> &'static str {
        ort::info()
    }
}

impl Provider {
    /// The required providers; the CPU is always present.
    pub(crate) fn registrations(self) -> Vec<ep::ExecutionProviderDispatch> {
        let cuda = || ep::CUDA::default().build().error_on_failure();
        match self {
            Provider::Cpu => Vec::new(),
            Provider::Cuda => vec![cuda()],
            Provider::TensorRt => vec![ep::TensorRT::default().build().error_on_failure(), cuda()],
        }
    }
}

fn rten_remedy() -> &'static str {
    match cfg!(feature = "rten") {
        true => "omit the choice of a runtime, or write rten",
        false => "build it in with `cargo build --release --features rten`",
    }
}

fn refusal(path: &Path, why: &ort::LoadDynamicError) -> RuntimeError {
    let path = path.to_owned();
    match why {
        ort::LoadDynamicError::BadVersion { version_str, .. } => {
            RuntimeError::Old { path, version: version_str.clone() }
        }
        ort::LoadDynamicError::Dlopen { error, .. } => {
            RuntimeError::Unusable { path, why: error.to_string() }
        }
        ort::LoadDynamicError::MissingApi { .. } => {
            let why = "it has no OrtGetApiBase, so it is another library".to_owned();
            RuntimeError::Unusable { path, why }
        }
        ort::LoadDynamicError::InvalidVersionString => {
            RuntimeError::Unusable { path, why: "it does not say its version".to_owned() }
        }
    }
}

/// The result of `act`, or its panic message, which would not be shown otherwise. `ort` panics if a
/// library lacks functions that its version promises.
fn without_panic<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Mutex<()> = Mutex::new(());
    let _alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let before = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(act));
    panic::set_hook(before);
    outcome.map_err(|panicked| match panicked.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => match other.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(_) => "it is not compatible with this program".to_owned(),
        },
    })
}
