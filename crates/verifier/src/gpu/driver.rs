//! NVIDIA's driver interface, opened at run time, so that everything builds and runs without it.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

use libloading::Library;

use super::error::GpuError;

/// A pointer to the device's memory.
pub(super) type Address = u64;
/// A pointer that only the driver follows.
type Handle = usize;

/// File names of the driver's library; the last one is where Windows puts it for Linux.
const NAMES: &[&str] = &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];

/// `CUdevice_attribute`s.
const CAPABILITY: [c_int; 2] = [75, 76];

macro_rules! functions {
    ($($name:ident, $symbol:literal, ($($argument:ty),*);)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
            // Never closed: the driver keeps threads of its own.
            _library: ManuallyDrop<Library>,
        }

        impl Functions {
            fn of(library: Library) -> Result<Self, GpuError> {
                Ok(Self {
                    $(
                        // SAFETY: the type is that of this function in NVIDIA's `cuda.h`.
                        $name: *unsafe { library.get($symbol) }
                            .map_err(|_| GpuError::OldDriver)?,
                    )*
                    _library: ManuallyDrop::new(library),
                })
            }
        }
    };
}

functions! {
    init, "cuInit", (c_uint);
    error_name, "cuGetErrorName", (c_int, *mut *const c_char);
    device, "cuDeviceGet", (*mut c_int, c_int);
    device_name, "cuDeviceGetName", (*mut c_char, c_int, c_int);
    attribute, "cuDeviceGetAttribute", (*mut c_int, c_int, c_int);
    retain, "cuDevicePrimaryCtxRetain", (*mut Handle, c_int);
    set_current, "cuCtxSetCurrent", (Handle);
    load, "cuModuleLoadData", (*mut Handle, *const c_void);
    function, "cuModuleGetFunction", (*mut Handle, Handle, *const c_char);
    allocate, "cuMemAlloc_v2", (*mut Address, usize);
    free, "cuMemFree_v2", (Address);
    allocate_host, "cuMemHostAlloc", (*mut *mut c_void, usize, c_uint);
    free_host, "cuMemFreeHost", (*mut c_void);
    copy_in, "cuMemcpyHtoD_v2", (Address, *const c_void, usize);
    copy_in_later, "cuMemcpyHtoDAsync_v2", (Address, *const c_void, usize, Handle);
    copy_out_later, "cuMemcpyDtoHAsync_v2", (*mut c_void, Address, usize, Handle);
    stream, "cuStreamCreate", (*mut Handle, c_uint);
    wait, "cuStreamSynchronize", (Handle);
    free_stream, "cuStreamDestroy_v2", (Handle);
    launch, "cuLaunchKernel", (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void,
        *mut *mut c_void
    );
}

/// A device with a program. It is never given back: others of the process may use it, too.
pub(super) struct Driver {
    functions: Functions,
    context: Handle,
    module: Handle,
    name: String,
}

#[derive(Clone, Copy)]
pub(super) struct Kernel(Handle);

impl Driver {
    /// Opens the driver in `file`, or the system's, and loads a program (PTX or a binary) on its first
    /// device.
    ///
    /// # Safety
    /// The file is a driver of NVIDIA's interface, and the program is whole.
    pub(super) unsafe fn open(file: Option<&OsStr>, program: &[u8]) -> Result<Self, GpuError> {
        let names: Vec<&OsStr> = match file {
            Some(file) => vec![file],
            None => NAMES.iter().map(OsStr::new).collect(),
        };
        // SAFETY: the driver's initialisers have no requirements.
        let mut opened = names.into_iter().filter_map(|name| unsafe { Library::new(name) }.ok());
        let functions = Functions::of(opened.next().ok_or(GpuError::NoDriver)?)?;
        let mut driver = Self { functions, context: 0, module: 0, name: String::new() };
        let device = driver.find_device()?;
        let mut context = 0;
        // SAFETY: the place is written to, and the driver has been initialised.
        let status = unsafe { (driver.functions.retain)(&mut context, device) };
        driver.check("cuDevicePrimaryCtxRetain", status)?;
        driver.context = context;
        driver.enter()?;
        // A text ends with a zero, a binary says how long it is.
        let (mut module, program) = (0, [program, &[0]].concat());
        // SAFETY: as the caller promises; this thread has a context.
        let status = unsafe { (driver.functions.load)(&mut module, program.as_ptr().cast()) };
        driver.check("cuModuleLoadData", status)?;
        driver.module = module;
        Ok(driver)
    }

    fn find_device(&mut self) -> Result<c_int, GpuError> {
        let f = &self.functions;
        // SAFETY: it takes no pointer.
        match unsafe { (f.init)(0) } {
            0 => {}
            100 | 101 => return Err(GpuError::NoDevice),
            code => return Err(self.error("cuInit", code)),
        }
        let (mut device, mut name) = (0, [0; 128]);
        // SAFETY: the place is written to.
        self.check("cuDeviceGet", unsafe { (f.device)(&mut device, 0) })?;
        // SAFETY: the driver writes a text of at most this length, and a zero after it.
        let status = unsafe { (f.device_name)(name.as_mut_ptr(), name.len() as c_int, device) };
        self.check("cuDeviceGetName", status)?;
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let mut capability = [0; 2];
        for (place, attribute) in capability.iter_mut().zip(CAPABILITY) {
            // SAFETY: the place is written to.
            let status = unsafe { (f.attribute)(place, attribute, device) };
            self.check("cuDeviceGetAttribute", status)?;
        }
        if capability < [7, 5] {
            let [major, minor] = capability;
            return Err(GpuError::OldDevice { name, major, minor });
        }
        self.name = name;
        Ok(device)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the calling thread use the device.
    pub(super) fn enter(&self) -> Result<(), GpuError> {
        // SAFETY: it is the device's context.
        self.check("cuCtxSetCurrent", unsafe { (self.functions.set_current)(self.context) })
    }

    pub(super) fn kernel(&self, name: &CStr) -> Result<Kernel, GpuError> {
        let mut kernel = 0;
        // SAFETY: the place is written to, and the module is loaded.
        let status = unsafe { (self.functions.function)(&mut kernel, self.module, name.as_ptr()) };
        self.check("cuModuleGetFunction", status)?;
        Ok(Kernel(kernel))
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), GpuError> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    fn error(&self, call: &'static str, code: c_int) -> GpuError {
        match code {
            2 => return GpuError::Memory,
            // CUDA_ERROR_JIT_COMPILER_NOT_FOUND, _UNSUPPORTED_PTX_VERSION, _SYSTEM_DRIVER_MISMATCH.
            221 => return GpuError::NoCompiler,
            222 => return GpuError::OldDriver,
            803 => return GpuError::OtherDriver,
            _ => {}
        }
        let mut name = null();
        // SAFETY: the place is written to.
        let known = unsafe { (self.functions.error_name)(code, &mut name) } == 0 && !name.is_null();
        let name = match known {
            // SAFETY: the driver's names are static texts.
            true => unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned(),
            false => format!("error {code}"),
        };
        GpuError::Driver { call, name }
    }
}

/// Memory of the device.
pub(super) struct Memory {
    driver: Arc<Driver>,
    pub address: Address,
}

impl Memory {
    pub(super) fn new(driver: &Arc<Driver>, bytes: usize) -> Result<Self, GpuError> {
        let mut address = 0;
        // SAFETY: the place is written to.
        let status = unsafe { (driver.functions.allocate)(&mut address, bytes) };
        driver.check("cuMemAlloc", status)?;
        Ok(Self { driver: Arc::clone(driver), address })
    }

    /// Copies to a place of it, before all that any stream is given afterwards. The driver refuses
    /// what does not fit.
    pub(super) fn write(&self, offset: usize, from: &[u8]) -> Result<(), GpuError> {
        let (to, source) = (self.address + offset as u64, from.as_ptr().cast());
        // SAFETY: the source is as long as is said.
        let status = unsafe { (self.driver.functions.copy_in)(to, source, from.len()) };
        self.driver.check("cuMemcpyHtoD", status)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it is the driver's, and is not used after this.
        unsafe { (self.driver.functions.free)(self.address) };
    }
}

/// Memory of the host that the device copies from and to by itself: zeros at first.
pub(super) struct Pinned<T> {
    driver: Arc<Driver>,
    start: NonNull<T>,
    length: usize,
}

// SAFETY: it owns its memory, as a `Box` does.
unsafe impl<T: Send> Send for Pinned<T> {}

impl<T: Copy> Pinned<T> {
    /// # Safety
    /// Zeros are a `T`.
    pub(super) unsafe fn new(driver: &Arc<Driver>, length: usize) -> Result<Self, GpuError> {
        let (mut start, bytes) = (null_mut(), length * size_of::<T>());
        // SAFETY: the place is written to.
        let status = unsafe { (driver.functions.allocate_host)(&mut start, bytes, 0) };
        driver.check("cuMemHostAlloc", status)?;
        let start = NonNull::new(start.cast::<T>()).ok_or(GpuError::Memory)?;
        // SAFETY: the driver gives whole pages of this size.
        unsafe { start.write_bytes(0, length) };
        Ok(Self { driver: Arc::clone(driver), start, length })
    }

    /// All of it.
    ///
    /// # Safety
    /// No stream works with it: its owner has waited.
    pub(super) unsafe fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: as the caller promises; the driver's memory is this long and holds values.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: it is the driver's, and is not used after this.
        unsafe { (self.driver.functions.free_host)(self.start.as_ptr().cast()) };
    }
}

/// A queue of the device's work.
pub(super) struct Stream {
    driver: Arc<Driver>,
    handle: Handle,
}

impl Stream {
    pub(super) fn new(driver: &Arc<Driver>) -> Result<Self, GpuError> {
        let mut handle = 0;
        // SAFETY: the place is written to. Without flags, it waits for what `Memory::write` copies.
        let status = unsafe { (driver.functions.stream)(&mut handle, 0) };
        driver.check("cuStreamCreate", status)?;
        Ok(Self { driver: Arc::clone(driver), handle })
    }

    /// Copies the first values to the device.
    ///
    /// # Safety
    /// Neither memory is touched or freed before the stream has been waited for.
    pub(super) unsafe fn copy_in<T>(
        &self,
        to: &Memory,
        from: &Pinned<T>,
        count: usize,
    ) -> Result<(), GpuError> {
        let bytes = count.min(from.length) * size_of::<T>();
        let (copy, source) = (self.driver.functions.copy_in_later, from.start.as_ptr().cast());
        // SAFETY: as the caller promises.
        let status = unsafe { copy(to.address, source, bytes, self.handle) };
        self.driver.check("cuMemcpyHtoDAsync", status)
    }

    /// Copies the first values from the device.
    ///
    /// # Safety
    /// As for [`copy_in`](Self::copy_in); the device has values there.
    pub(super) unsafe fn copy_out<T>(
        &self,
        to: &mut Pinned<T>,
        from: &Memory,
        count: usize,
    ) -> Result<(), GpuError> {
        let bytes = count.min(to.length) * size_of::<T>();
        let (copy, target) = (self.driver.functions.copy_out_later, to.start.as_ptr().cast());
        // SAFETY: as the caller promises.
        let status = unsafe { copy(target, from.address, bytes, self.handle) };
        self.driver.check("cuMemcpyDtoHAsync", status)
    }

    /// Runs a kernel on blocks of `threads`. Arguments are addresses and numbers of at most 64 bits,
    /// of which a kernel reads the low part.
    ///
    /// # Safety
    /// They are what the kernel takes, and the memory is as large as it expects, and there until the
    /// stream has been waited for.
    pub(super) unsafe fn launch(
        &self,
        kernel: Kernel,
        blocks: usize,
        threads: usize,
        arguments: &mut [u64],
    ) -> Result<(), GpuError> {
        let mut places: Vec<*mut c_void> =
            arguments.iter_mut().map(|it| std::ptr::from_mut(it).cast()).collect();
        let (launch, blocks, threads) =
            (self.driver.functions.launch, blocks as c_uint, threads as c_uint);
        let places = places.as_mut_ptr();
        // SAFETY: as the caller promises; the driver has copied the arguments when it returns.
        let status = unsafe {
            launch(kernel.0, blocks, 1, 1, threads, 1, 1, 0, self.handle, places, null_mut())
        };
        self.driver.check("cuLaunchKernel", status)
    }

    /// Waits for all of it.
    pub(super) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: it is the driver's.
        let status = unsafe { (self.driver.functions.wait)(self.handle) };
        self.driver.check("cuStreamSynchronize", status)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it is the driver's, and is not used after this.
        unsafe { (self.driver.functions.free_stream)(self.handle) };
    }
}
