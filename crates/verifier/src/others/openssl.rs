//! The system's OpenSSL, opened at run time, so that everything builds without it.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_uchar, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use libloading::Library;

use crate::Digest;

type Handle = *mut c_void;

/// A libcrypto, 1.1.0 or newer.
pub struct OpenSsl {
    version: String,
    functions: Arc<Functions>,
}

struct Functions {
    read_key: unsafe extern "C" fn(*mut Handle, *mut *const c_uchar, c_long) -> Handle,
    free_key: unsafe extern "C" fn(Handle),
    new_context: unsafe extern "C" fn(Handle, Handle) -> Handle,
    free_context: unsafe extern "C" fn(Handle),
    begin: unsafe extern "C" fn(Handle) -> c_int,
    verify: unsafe extern "C" fn(Handle, *const c_uchar, usize, *const c_uchar, usize) -> c_int,
    _library: Library,
}

/// A parsed key, for any number of threads.
pub struct OpenSslKey {
    functions: Arc<Functions>,
    key: Handle,
}

/// A verification context of one thread.
pub struct OpenSslContext<'a> {
    key: &'a OpenSslKey,
    context: Handle,
}

/// Why OpenSSL cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum OpenSslError {
    #[error("OpenSSL 1.1.0 or newer is not installed (looked for {})", NAMES.join(", "))]
    NotFound,
    #[error("it cannot be loaded")]
    Load(#[source] libloading::Error),
    #[error("the library is not OpenSSL 1.1.0 or newer: function {0} is missing")]
    Function(&'static str),
}

/// File names of libcrypto, the newest first. macOS kills programs that load the one without a
/// number.
const NAMES: &[&str] = if cfg!(target_os = "macos") {
    &[
        "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
        "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
        "libcrypto.3.dylib",
    ]
} else {
    &["libcrypto.so.4", "libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"]
};

impl OpenSsl {
    /// Opens the system's libcrypto.
    ///
    /// # Errors
    /// If none has the required functions.
    pub fn open() -> Result<Self, OpenSslError> {
        let mut opened = NAMES.iter().filter_map(|name| Self::open_file(name.as_ref()).ok());
        opened.next().ok_or(OpenSslError::NotFound)
    }

    /// Opens the libcrypto in `file`.
    ///
    /// # Errors
    /// If it cannot be loaded, or lacks a required function.
    pub fn open_file(file: &OsStr) -> Result<Self, OpenSslError> {
        Self::of(load(file).map_err(OpenSslError::Load)?)
    }

    /// Its version string, such as "OpenSSL 3.0.19 27 Jan 2026".
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    fn of(library: Library) -> Result<Self, OpenSslError> {
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the types are those of OpenSSL's headers for these names.
                *unsafe { library.get($name) }.map_err(|_| OpenSslError::Function($name))?
            };
        }
        let version: unsafe extern "C" fn(c_int) -> *const c_char = symbol!("OpenSSL_version");
        // SAFETY: 0 (OPENSSL_VERSION) gives a static string that ends with a zero.
        let version = unsafe { CStr::from_ptr(version(0)) };
        let version = version.to_string_lossy().into_owned();
        let functions = Functions {
            read_key: symbol!("d2i_PUBKEY"),
            free_key: symbol!("EVP_PKEY_free"),
            new_context: symbol!("EVP_PKEY_CTX_new"),
            free_context: symbol!("EVP_PKEY_CTX_free"),
            begin: symbol!("EVP_PKEY_verify_init"),
            verify: symbol!("EVP_PKEY_verify"),
            _library: library,
        };
        Ok(Self { version, functions: Arc::new(functions) })
    }

    /// Reads a key of P-256 in SEC 1's form; none if OpenSSL refuses it.
    #[must_use]
    pub fn key(&self, sec1: &[u8]) -> Option<OpenSslKey> {
        // A SubjectPublicKeyInfo with id-ecPublicKey and prime256v1 (RFC 5480).
        let algorithm = [
            0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
            0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
        ];
        let length = u8::try_from(sec1.len()).ok()?;
        let mut der = vec![0x30, length + 3 + 21];
        der.extend(algorithm);
        der.extend([0x03, length + 1, 0]);
        der.extend(sec1);
        let mut position = der.as_ptr();
        // SAFETY: `position` points at `der.len()` readable octets; the first argument may be null.
        let key =
            unsafe { (self.functions.read_key)(null_mut(), &mut position, der.len() as c_long) };
        let functions = Arc::clone(&self.functions);
        (!key.is_null()).then(|| OpenSslKey { functions, key })
    }
}

// SAFETY: a key is not changed once it is read, and OpenSSL counts references to it atomically.
unsafe impl Send for OpenSslKey {}
// SAFETY: as above; whatever changes while verifying is in the contexts.
unsafe impl Sync for OpenSslKey {}

impl OpenSslKey {
    /// Prepares a verification; none if OpenSSL has no memory for it.
    #[must_use]
    pub fn context(&self) -> Option<OpenSslContext<'_>> {
        // SAFETY: `key` is a key; the engine may be null.
        let context = unsafe { (self.functions.new_context)(self.key, null_mut()) };
        let context = OpenSslContext { key: self, context };
        // SAFETY: it is a context with a public key, or null, which is refused.
        let begun = unsafe { (self.functions.begin)(context.context) };
        (begun == 1).then_some(context)
    }
}

impl OpenSslContext<'_> {
    /// Whether OpenSSL accepts the signature (in DER) of the digest.
    #[must_use]
    pub fn verify(&self, digest: &Digest, der: &[u8]) -> bool {
        let digest = &digest.0;
        let (context, verify) = (self.context, self.key.functions.verify);
        // SAFETY: the context is ready to verify; both slices are as long as is said.
        let answer =
            unsafe { verify(context, der.as_ptr(), der.len(), digest.as_ptr(), digest.len()) };
        answer == 1
    }
}

impl Drop for OpenSslContext<'_> {
    fn drop(&mut self) {
        // SAFETY: it is OpenSSL's, or null, and is not used after this.
        unsafe { (self.key.functions.free_context)(self.context) };
    }
}

impl Drop for OpenSslKey {
    fn drop(&mut self) {
        // SAFETY: it is OpenSSL's, and is not used after this.
        unsafe { (self.functions.free_key)(self.key) };
    }
}

fn load(name: &OsStr) -> Result<Library, libloading::Error> {
    // SAFETY: libcrypto's initialisers have no requirements; a user who names another file runs its
    // code.
    unsafe { Library::new(name) }
}
