//! Reading captures of any program: pcap, with times in microseconds or nanoseconds, and pcapng.

use std::fmt::Write as _;
use std::io::Read;
use std::time::Duration;

use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

/// Whether these bytes begin as a capture does.
pub fn is_capture(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().map(|first| u32::from_be_bytes(*first));
    let pcap = |first: u32| matches!(first, 0xa1b2_c3d4 | 0xa1b2_3c4d);
    first.is_some_and(|first| pcap(first) || pcap(first.swap_bytes()) || first == 0x0a0d_0d0a)
}

/// A frame of a capture.
pub struct Frame<'a> {
    /// Its number, from 1 on.
    pub number: usize,
    /// Its time, since 1970.
    pub at: Option<Duration>,
    /// What it is a frame of.
    pub link: Linktype,
    /// Its length on the link.
    pub len: u32,
    /// What was captured of it.
    pub bytes: &'a [u8],
}

/// Passes the frames of a capture to `each`, and returns how many there are and how it ends.
///
/// # Errors
/// Those of `each`.
pub fn frames<E>(
    capture: impl Read + Send,
    mut each: impl FnMut(Frame<'_>) -> Result<(), E>,
) -> Result<(usize, &'static str), E> {
    const DAMAGED: &str = "; what follows is damaged";
    let (mut number, mut is_nanos, mut interfaces) = (0, false, Vec::new());
    let mut legacy = Linktype::ETHERNET;
    let Ok(mut reader) = create_reader(1 << 20, capture) else { return Ok((number, DAMAGED)) };
    loop {
        let (len, block) = match reader.next() {
            Ok(next) => next,
            Err(PcapError::Eof) => return Ok((number, "")),
            Err(PcapError::Incomplete(_)) => match reader.refill() {
                Ok(()) => continue,
                Err(_) => return Ok((number, DAMAGED)),
            },
            Err(_) => return Ok((number, DAMAGED)),
        };
        let frame = match &block {
            PcapBlockOwned::LegacyHeader(header) => {
                (is_nanos, legacy) = (header.is_nanosecond_precision(), header.network);
                None
            }
            PcapBlockOwned::Legacy(packet) => {
                let nanos = packet.ts_usec.saturating_mul(if is_nanos { 1 } else { 1_000 });
                let at = Duration::new(packet.ts_sec.into(), nanos);
                Some((packet.data, packet.origlen, legacy, Some(at)))
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                interfaces.clear();
                None
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(one)) => {
                // A hostile capture may have many; no real one has.
                if interfaces.len() < 1_024 {
                    interfaces.push((one.ts_offset() as u64, one.ts_resolution(), one.linktype));
                }
                None
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = interfaces.get(packet.if_id as usize);
                let at = interface.and_then(|(offset, resolution, _)| {
                    let (seconds, part) = packet.decode_ts(*offset, (*resolution)?);
                    let nanos =
                        u128::from(part) * 1_000_000_000 / u128::from((*resolution)?.max(1));
                    Some(Duration::new(seconds.into(), u32::try_from(nanos).ok()?))
                });
                let link = interface.map_or(Linktype::NULL, |(.., link)| *link);
                Some((packet.packet_data(), packet.origlen, link, at))
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let link = interfaces.first().map_or(Linktype::NULL, |(.., link)| *link);
                Some((packet.packet_data(), packet.origlen, link, None))
            }
            PcapBlockOwned::NG(_) => None,
        };
        if let Some((bytes, len, link, at)) = frame {
            number += 1;
            each(Frame { number, at, link, len, bytes })?;
        }
        reader.consume(len);
    }
}

/// The packets of a capture, a line for each: its time since the first, and its length from the IP header on.
///
/// # Errors
/// If the captured link is none whose headers have a fixed length, or a packet has no time.
pub fn lengths(capture: &[u8]) -> Result<String, String> {
    let (mut text, mut first) = (String::new(), None);
    let (count, end) = frames(capture, |Frame { number, at, link, len, .. }| {
        let headers = match link {
            Linktype::NULL | Linktype::LOOP => 4,
            Linktype::ETHERNET => 14,
            Linktype::LINUX_SLL => 16,
            Linktype(276) => 20,
            Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => 0,
            Linktype(kind) => {
                return Err(format!(
                    "captures of link type {kind} cannot be read; capture Ethernet"
                ));
            }
        };
        let at = at.ok_or_else(|| format!("packet {number} has no time"))?;
        let since = at.saturating_sub(*first.get_or_insert(at)).as_nanos();
        writeln!(text, "{since} ns,{} B", len.saturating_sub(headers))
            .map_err(|why| why.to_string())
    })?;
    match end {
        "" => Ok(text),
        _ => Err(format!("it is damaged after packet {count}; cut it there, as with editcap -r")),
    }
}
