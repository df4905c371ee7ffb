//! How much memory this thread holds: a run in virtual time has one thread for both ends and the
//! network between them.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::support::*;

/// The bytes that this thread has allocated and not freed.
pub fn held() -> isize {
    HELD.get()
}

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, with a counter.
struct Counting;

impl Counting {
    fn count(change: isize) {
        // While a thread ends the counter no longer exists.
        let _gone = HELD.try_with(|held| held.set(held.get() + change));
    }
}

// SAFETY: every call goes on to the system's allocator as it came; the counting only changes a
// number of this thread, and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::count(layout.size() as isize);
        // SAFETY: the caller keeps to the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Counting::count(-(layout.size() as isize));
        // SAFETY: the caller keeps to the contract, and it was the system that allocated this.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
