//! `trackbed v2x`: decodes V2X messages and certificates.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use serde_json::Value;
use trackbed_v2x::{Refusal, json};

use crate::ending::Ending;
use crate::output::{self, tell};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: V2xCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum V2xCommand {
    /// Decode a signed message or a certificate (IEEE 1609.2, TS 103 097) to JSON
    #[command(after_long_help = DECODE_EXAMPLES)]
    Decode(DecodeArguments),
}

const DECODE_EXAMPLES: &str = "\
Examples:
  trackbed v2x decode cam.oer
  xxd -p cam.oer | trackbed v2x decode -
  trackbed v2x decode drive.pcapng

FILE contains one message or one certificate, binary or in hexadecimal (also with 0x or colons), or is a
capture (pcap or pcapng) of GeoNetworking or WSMP, whatever carries these: its signed messages are a list,
and the other packets are counted. \"data\" contains a message's fields under
the names of the standard (JSON encoding rules), \"payload\" the fields of the CAM, DENM or BSM in it. The
names of certificates are computed. Signatures are not verified.";

#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// The file to decode; - is standard input
    pub file: PathBuf,
}

/// Prints a message or a certificate as JSON.
///
/// # Errors
/// If the file cannot be read, or is neither a message nor a certificate.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let V2xCommand::Decode(arguments) = &arguments.command;
    let path = &arguments.file;
    let bytes = read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let shown = match is_capture(&bytes) {
        true => {
            let (messages, packets, end) = messages(&bytes);
            let others = packets - messages.len();
            tell(format_args!("{} signed messages, {others} other packets{end}", messages.len()));
            Value::Array(messages)
        }
        false => json::describe(&unhex(&bytes)).with_context(|| {
            let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(byte);
            let advice = match bytes.iter().all(is_base64) {
                true => "; if it is base64, write base64 -d FILE | trackbed v2x decode -",
                false => "",
            };
            format!("{} is not a signed message or certificate{advice}", path.display())
        })?,
    };
    output::print(&output::json(&shown)?)?;
    Ok(Ending::Success)
}

/// Hours of a busy crossing; longer input is cut.
const MAX_LEN: u64 = 256 << 20;

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match path.to_str() {
        Some("-") => io::stdin().lock().take(MAX_LEN).read_to_end(&mut bytes)?,
        _ => File::open(path)?.take(MAX_LEN).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// Whether it begins as pcap, with times in microseconds or nanoseconds and in either byte order, or pcapng.
pub(super) fn is_capture(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().map(|first| u32::from_be_bytes(*first));
    let pcap = |first: u32| matches!(first, 0xa1b2_c3d4 | 0xa1b2_3c4d);
    first.is_some_and(|first| pcap(first) || pcap(first.swap_bytes()) || first == 0x0a0d_0d0a)
}

/// The signed messages in a capture, each with the number of its packet, the number of packets, and how it ends.
pub(super) fn messages(capture: &[u8]) -> (Vec<Value>, usize, &'static str) {
    const DAMAGED: &str = "; what follows is damaged";
    let (mut found, mut packets) = (Vec::new(), 0);
    let Ok(mut reader) = create_reader(1 << 20, capture) else { return (found, packets, DAMAGED) };
    loop {
        let (len, block) = match reader.next() {
            Ok(next) => next,
            Err(PcapError::Eof) => return (found, packets, ""),
            Err(PcapError::Incomplete(_)) => match reader.refill() {
                Ok(()) => continue,
                Err(_) => return (found, packets, DAMAGED),
            },
            Err(_) => return (found, packets, DAMAGED),
        };
        let frame = match &block {
            PcapBlockOwned::Legacy(packet) => Some(packet.data),
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => Some(packet.packet_data()),
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => Some(packet.packet_data()),
            _ => None,
        };
        packets += usize::from(frame.is_some());
        if let Some(mut message) = frame.and_then(message_in) {
            message["packet"] = packets.into();
            found.push(message);
        }
        reader.consume(len);
    }
}

/// The signed message behind the headers of GeoNetworking or WSMP, wherever the frame names these.
fn message_in(frame: &[u8]) -> Option<Value> {
    frame.windows(2).take(LINK_HEADERS_MAX).enumerate().find_map(|(at, kind)| {
        let packet = &frame[at + 2..];
        let message = match kind {
            // EN 302 636-4-1, section 9.6: the basic header says that a secured packet follows.
            [0x89, 0x47] if packet.first()? & 15 == 2 => packet.get(4..)?,
            [0x88, 0xdc] => short_message(packet)?,
            _ => return None,
        };
        match json::message(message) {
            // Padding or a checksum of the frame.
            Err(Refusal::TrailingBytes { len, .. }) => {
                json::message(&message[..message.len().saturating_sub(len)]).ok()
            }
            read => read.ok(),
        }
    })
}

/// Radiotap's header, those of 802.11 and tags of VLANs fit.
const LINK_HEADERS_MAX: usize = 200;

/// What follows a count of elements with an identifier and a length, if `is_there` says that there is one.
fn after_elements(is_there: bool, bytes: &[u8]) -> Option<&[u8]> {
    let count = if is_there { *bytes.first()? } else { 0 };
    let bytes = &bytes[usize::from(is_there)..];
    (0..count).try_fold(bytes, |rest, _| rest.get(2 + usize::from(*rest.get(1)?)..))
}

/// The data of a WAVE short message (IEEE 1609.3, section 8.3).
fn short_message(packet: &[u8]) -> Option<&[u8]> {
    let (network, rest) = packet.split_first()?;
    let (transport, rest) = after_elements(network & 8 != 0, rest)?.split_first()?;
    // The ones before the first zero are the number of further bytes of the application's identifier.
    let rest = rest.get(1 + rest.first()?.leading_ones() as usize..)?;
    let rest = after_elements(transport & 1 != 0, rest)?;
    rest.get(1 + usize::from(rest.first()? >> 7)..)
}

/// Decodes hexadecimal input; other input is unchanged. No binary message consists of digits alone: it begins
/// with the byte 3 or 128.
pub(super) fn unhex(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("0x", "");
    let digits = text.chars().filter(|c| !(c.is_whitespace() || ":,".contains(*c)));
    let digits: Option<Vec<u8>> = digits.map(|c| Some(c.to_digit(16)? as u8)).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
        }
        _ => bytes.to_owned(),
    }
}
