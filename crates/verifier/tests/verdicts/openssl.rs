//! The system's OpenSSL, opened at run time, so that tests and benchmarks build without it.

use std::ffi::{c_int, c_long, c_uchar, c_void};
use std::ptr::{NonNull, null_mut};

use libloading::Library;

type Handle = *mut c_void;

/// The functions of libcrypto 3 that a verification needs.
pub struct OpenSsl {
    read_key: unsafe extern "C" fn(*mut Handle, *mut *const c_uchar, c_long) -> Handle,
    free_key: unsafe extern "C" fn(Handle),
    new_context: unsafe extern "C" fn(Handle, Handle) -> Handle,
    free_context: unsafe extern "C" fn(Handle),
    begin: unsafe extern "C" fn(Handle) -> c_int,
    verify: unsafe extern "C" fn(Handle, *const c_uchar, usize, *const c_uchar, usize) -> c_int,
    _library: Library,
}

/// A parsed key.
pub struct Key<'a> {
    openssl: &'a OpenSsl,
    context: NonNull<c_void>,
    key: NonNull<c_void>,
}

impl OpenSsl {
    /// Opens `libcrypto.so.3`; none, loudly, if the system has none.
    pub fn open() -> Option<Self> {
        // SAFETY: the library's initialisers have no requirements.
        let library = unsafe { Library::new("libcrypto.so.3") };
        let Ok(library) = library else {
            assert!(std::env::var_os("CI").is_none(), "no libcrypto.so.3: install libssl3");
            eprintln!("skipped: no libcrypto.so.3 (Debian package libssl3)");
            return None;
        };
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the types above are those of OpenSSL's headers for these names.
                *unsafe { library.get($name) }.ok()?
            };
        }
        Some(Self {
            read_key: symbol!(b"d2i_PUBKEY"),
            free_key: symbol!(b"EVP_PKEY_free"),
            new_context: symbol!(b"EVP_PKEY_CTX_new"),
            free_context: symbol!(b"EVP_PKEY_CTX_free"),
            begin: symbol!(b"EVP_PKEY_verify_init"),
            verify: symbol!(b"EVP_PKEY_verify"),
            _library: library,
        })
    }

    /// Reads a key of P-256 in SEC 1's form; none if OpenSSL refuses it.
    pub fn key(&self, sec1: &[u8]) -> Option<Key<'_>> {
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
        let key = unsafe { (self.read_key)(null_mut(), &mut position, der.len() as c_long) };
        let key = NonNull::new(key)?;
        // SAFETY: `key` is a key; the engine may be null.
        let context = unsafe { (self.new_context)(key.as_ptr(), null_mut()) };
        let context = NonNull::new(context).expect("OpenSSL has memory");
        // SAFETY: `context` is a context with a public key.
        let begun = unsafe { (self.begin)(context.as_ptr()) };
        assert_eq!(begun, 1, "EVP_PKEY_verify_init");
        Some(Key { openssl: self, context, key })
    }
}

impl Key<'_> {
    /// Whether OpenSSL takes the signature (in DER) of the digest.
    pub fn verify(&self, digest: &[u8; 32], der: &[u8]) -> bool {
        let (context, verify) = (self.context.as_ptr(), self.openssl.verify);
        // SAFETY: the context is ready to verify; both slices are as long as is said.
        let answer =
            unsafe { verify(context, der.as_ptr(), der.len(), digest.as_ptr(), digest.len()) };
        answer == 1
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: both are OpenSSL's, and nobody uses them from here on.
        unsafe {
            (self.openssl.free_context)(self.context.as_ptr());
            (self.openssl.free_key)(self.key.as_ptr());
        }
    }
}

/// A signature as OpenSSL wants it.
pub fn to_der(r: &[u8; 32], s: &[u8; 32]) -> Vec<u8> {
    let mut der = vec![0x30, 0];
    for integer in [r, s] {
        let zeros = integer.iter().take(31).take_while(|octet| **octet == 0).count();
        let magnitude = &integer[zeros..];
        let sign = usize::from(magnitude[0] >= 0x80);
        der.extend([0x02, (magnitude.len() + sign) as u8]);
        der.extend(std::iter::repeat_n(0, sign));
        der.extend(magnitude);
    }
    der[1] = (der.len() - 2) as u8;
    der
}
