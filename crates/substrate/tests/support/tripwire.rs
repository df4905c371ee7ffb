//! A tripwire: catches whatever reads a clock or draws randomness from the operating system on a
//! thread that simulates.
//!
//! A test binary that includes this file replaces the C library's `getrandom`, `clock_gettime`
//! and `syscall` by functions that look where they are called. On a thread that simulates they
//! note a violation. On every thread they then do what the C library's own functions do, so no
//! program ever gets weaker random numbers than without the tripwire.
//!
//! To cover runs of another crate, include the file by its path in a test binary there, execute
//! the runs, and assert that [`take_violations`] is empty.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_long, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use trackbed_substrate::is_simulating;

/// A call that a simulated run must not make.
#[derive(Debug)]
pub struct Violation {
    /// The function that was called.
    pub function: &'static str,
    /// Where from.
    pub backtrace: String,
}

/// The violations since the last time this was asked, on all threads.
pub fn take_violations() -> Vec<Violation> {
    std::mem::take(&mut VIOLATIONS.lock().expect("no panic while it is held"))
}

/// How often threads that do not simulate came through here and went on to the C library.
pub fn passed() -> u64 {
    PASSED.load(Ordering::Relaxed)
}

/// # Safety
/// As getrandom(2): `buffer` must be valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize {
    type Real = unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize;
    static REAL: Next = Next::new(c"getrandom");
    trip("getrandom");
    // SAFETY: the C library's function of this name has this type; the caller vouches for the
    // arguments.
    unsafe { std::mem::transmute::<*mut c_void, Real>(REAL.get())(buffer, len, flags) }
}

/// # Safety
/// As clock_gettime(2): `time` must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    type Real = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;
    static REAL: Next = Next::new(c"clock_gettime");
    trip("clock_gettime");
    // SAFETY: the C library's function of this name has this type; the caller vouches for the
    // arguments.
    unsafe { std::mem::transmute::<*mut c_void, Real>(REAL.get())(clock, time) }
}

/// The C library declares it with a variable number of arguments. On Linux these travel in the
/// same registers as fixed ones, and it reads six of them whatever the number.
///
/// # Safety
/// As syscall(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    type Real = unsafe extern "C" fn(c_long, ...) -> c_long;
    static REAL: Next = Next::new(c"syscall");
    match number {
        libc::SYS_getrandom => trip("syscall(SYS_getrandom)"),
        libc::SYS_clock_gettime => trip("syscall(SYS_clock_gettime)"),
        _ => {}
    }
    // SAFETY: the C library's function of this name has this type; the caller vouches for the
    // arguments.
    unsafe { std::mem::transmute::<*mut c_void, Real>(REAL.get())(number, a, b, c, d, e, f) }
}

fn trip(function: &'static str) {
    if !is_simulating() {
        PASSED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    // Taking the backtrace may come through here again.
    if !NOTING.replace(true) {
        let backtrace = Backtrace::force_capture().to_string();
        if let Ok(mut violations) = VIOLATIONS.lock() {
            violations.push(Violation { function, backtrace });
        }
        NOTING.set(false);
    }
}

/// A function of the C library that this file replaces.
struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Next {
        Next { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    fn get(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        assert!(!found.is_null(), "the C library has no {:?}", self.name);
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

static VIOLATIONS: Mutex<Vec<Violation>> = Mutex::new(Vec::new());
static PASSED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static NOTING: Cell<bool> = const { Cell::new(false) };
}
