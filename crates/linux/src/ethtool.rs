//! Offloads of an interface: ethtool(8), `linux/ethtool.h`.

use std::io;
use std::os::fd::AsRawFd as _;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::sys;

/// Switches features of the interface off, in the network namespace of the calling thread: those
/// whose names (as `ethtool -k` shows them) satisfy `unwanted`, such as "tx-gre-segmentation".
/// Features that cannot be switched are unchanged.
///
/// # Errors
/// If there is no such interface, no such name, or permission is missing (`CAP_NET_ADMIN`).
pub fn switch_features_off(interface: &str, unwanted: impl Fn(&str) -> bool) -> io::Result<()> {
    let names = feature_names(interface)?;
    let mut words = vec![0; 2 + 2 * names.len().div_ceil(32)];
    (words[0], words[1]) = (ETHTOOL_SFEATURES, names.len().div_ceil(32) as u32);
    for (bit, name) in names.iter().enumerate() {
        if unwanted(name) {
            // Each 32 features have a word that selects features, and one with their new values.
            words[2 + bit / 32 * 2] |= 1 << (bit % 32);
        }
    }
    if words[2..].iter().all(|word| *word == 0) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: a `struct ethtool_sfeatures` with as many blocks as its second word says.
    unsafe { call(interface, words.as_mut_ptr().cast()) }
}

/// The names of all features that the kernel knows, by their bits.
fn feature_names(interface: &str) -> io::Result<Vec<String>> {
    // `struct ethtool_sset_info` with room for one length.
    let mut info = [ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
    if cfg!(target_endian = "big") {
        info.swap(2, 3);
    }
    // SAFETY: the mask has one bit, whose length fits.
    unsafe { call(interface, info.as_mut_ptr().cast())? };
    let count = info[4] as usize;
    // `struct ethtool_gstrings`.
    let mut strings = vec![0_u32; 3 + count * NAME_BYTES / 4];
    (strings[0], strings[1], strings[2]) = (ETHTOOL_GSTRINGS, ETH_SS_FEATURES, info[4]);
    // SAFETY: the kernel writes the names of all features, the number it has just returned.
    unsafe { call(interface, strings.as_mut_ptr().cast())? };
    let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let name = |bytes: &[u8]| {
        let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    Ok(bytes.chunks(NAME_BYTES).map(name).collect())
}

/// Executes an ethtool command on an interface.
///
/// # Safety
/// `command` points to the structure for the command in its first word, and may be written to.
unsafe fn call(interface: &str, command: *mut libc::c_char) -> io::Result<()> {
    let mut request = interface_request(interface)?;
    request.ifr_ifru.ifru_data = command;
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: the request has the interface's name as a zero-terminated string, and a pointer that
    // the caller guarantees; both outlive the call.
    sys::check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &mut request) })
        .map(drop)
}

/// A request for the interface with this name; all other fields are zero.
pub(crate) fn interface_request(interface: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all fields of a request are bytes, integers or pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    let room = request.ifr_name.len() - 1;
    if interface.len() > room {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`
const NAME_BYTES: usize = 32;
