//! What Trackbed asks of the Linux kernel and no library offers safely: the one crate with system
//! calls of its own. Each module is one interface of the kernel behind a safe front.
