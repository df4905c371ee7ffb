//! `trackbed v2x`: decodes V2X messages and certificates, and verifies messages.

mod verdict;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use trackbed_measure::pcapng::{Frame, frames, is_capture};
use trackbed_v2x::{Refusal, SignedMessage, json};

use crate::ending::Ending;
use crate::output::{self, tell};
use verdict::Judge;

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: V2xCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum V2xCommand {
    /// Decode signed messages or a certificate (IEEE 1609.2, TS 103 097) to JSON
    #[command(after_long_help = include_str!("../../help/v2x-decode.txt"))]
    Decode(DecodeArguments),
}

#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// The file to decode; - is standard input
    pub file: PathBuf,
    /// Verify each message: its form, times, permissions, chain and signatures
    #[arg(long, requires = "roots")]
    pub verify: bool,
    /// Trust the root certificates in FILE, and the authorities in it that these certified: one after the other, binary
    /// or in hexadecimal
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub roots: Option<PathBuf>,
}

/// Prints messages or a certificate as JSON.
///
/// # Errors
/// If the file cannot be read, or is neither a message nor a certificate.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let V2xCommand::Decode(DecodeArguments { file: path, roots, .. }) = &arguments.command;
    let mut judge = roots.as_deref().map(Judge::new).transpose()?;
    let unreadable = || format!("cannot read {}", path.display());
    let mut source: Box<dyn Read + Send> = match path.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(File::open(path).with_context(unreadable)?),
    };
    let mut bytes = Vec::new();
    // The reader of captures wants a section's header in one piece.
    source.by_ref().take(4_096).read_to_end(&mut bytes).with_context(unreadable)?;
    if is_capture(&bytes) {
        decode_capture(io::Cursor::new(bytes).chain(source), judge.as_mut())?;
    } else {
        source.take(MAX_LEN).read_to_end(&mut bytes).with_context(unreadable)?;
        let bytes = unhex(&bytes);
        let inner = [GEONETWORKING, WSMP].iter().find_map(|kind| message_behind(kind, &bytes));
        let message = inner.unwrap_or(Ok(&bytes));
        let mut shown = message.clone().and_then(json::describe).with_context(|| {
            let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(byte);
            let advice = match bytes.iter().all(is_base64) {
                true => "; if it is base64, write base64 -d FILE | trackbed v2x decode -",
                false => "",
            };
            format!("{} is not a signed message or certificate{advice}", path.display())
        })?;
        if let Some(judge) = &mut judge {
            ensure!(shown["type"] == "signed-message", "--verify is for messages only");
            judge.judge(message?, None, &mut shown);
        }
        output::print(&output::json(&shown)?)?;
    }
    Ok(judge.map_or(Ending::Success, |judge| judge.end()))
}

/// Prints the signed messages of a capture one after the other, as a list.
fn decode_capture(capture: impl Read + Send, mut judge: Option<&mut Judge>) -> anyhow::Result<()> {
    let mut found = 0;
    let (packets, unread, end) = messages(capture, |Frame { number, at, bytes, .. }| {
        let Ok(mut shown) = json::message(bytes) else { return Ok(()) };
        shown["packet"] = number.into();
        if let Some(judge) = &mut judge {
            judge.judge(bytes, at, &mut shown);
        }
        found += 1;
        output::print(&format!("{}{shown:#}", if found == 1 { "[" } else { ",\n" }))
    })?;
    output::print(if found == 0 { "[]\n" } else { "]\n" })?;
    let others = packets - found - unread;
    tell(format_args!("{found} signed messages, {others} other packets{end}"));
    ensure!(found > 0 || unread == 0, "no signed message of the capture can be read");
    Ok(())
}

/// The limit of a file that is no capture.
const MAX_LEN: u64 = 16 << 20;

/// Passes the frames with signed messages, cut to these; returns the number of all and of those whose messages cannot be
/// read, and why, with how the capture ends.
pub(super) fn messages(
    capture: impl Read + Send,
    mut each: impl FnMut(Frame<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<(usize, usize, String)> {
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let (packets, end) = frames(capture, |frame| match message_in(frame.bytes) {
        Some(Ok(bytes)) => each(Frame { bytes, ..frame }),
        Some(Err(why)) => {
            *refused.entry(why.to_string()).or_default() += 1;
            Ok(())
        }
        None => Ok(()),
    })?;
    let reasons = refused.iter().map(|(why, count)| format!("; {count} unreadable: {why}"));
    Ok((packets, refused.values().sum(), reasons.chain([end.to_owned()]).collect()))
}

const GEONETWORKING: &[u8] = &[0x89, 0x47];
const WSMP: &[u8] = &[0x88, 0xdc];
const IPV4: &[u8] = &[0x08, 0x00];
const IPV6: &[u8] = &[0x86, 0xdd];
const UDP: u8 = 17;

/// The signed message behind the headers of GeoNetworking, WSMP or UDP, wherever the frame names these.
fn message_in(frame: &[u8]) -> Option<Result<&[u8], Refusal>> {
    let kinds = frame.windows(2).take(LINK_HEADERS_MAX).enumerate();
    let mut found = kinds.filter_map(|(at, kind)| {
        let read = |from| message_behind(kind, frame.get(from..)?);
        // The header of LINUX_SLL2 (`tcpdump -i any`) has 20 bytes and begins with the kind.
        read(at + 2).or_else(|| if at == 0 { read(20) } else { None })
    });
    let first = found.next()?;
    if first.is_ok() { Some(first) } else { found.find(Result::is_ok).or(Some(first)) }
}

/// The signed message behind the headers that this kind of packet has.
fn message_behind<'a>(kind: &[u8], packet: &'a [u8]) -> Option<Result<&'a [u8], Refusal>> {
    let message = match kind {
        // EN 302 636-4-1, section 9.6: the basic header says that a secured packet follows.
        GEONETWORKING if packet.first()? & 15 == 2 => packet.get(4..)?,
        WSMP => short_message(packet)?,
        IPV4 if *packet.get(9)? == UDP => packet.get(usize::from(packet[0] & 15) * 4 + 8..)?,
        IPV6 if *packet.get(6)? == UDP => packet.get(48..)?,
        _ => return None,
    };
    // Version 2, or signed data of version 3. Others are not signed, or stand there by chance.
    if !matches!(message, [2, ..] | [3, 0x81, ..]) {
        return None;
    }
    let message = match SignedMessage::decode(message) {
        // Padding or a checksum of the frame.
        Err(Refusal::TrailingBytes { len, .. }) => &message[..message.len().saturating_sub(len)],
        _ => message,
    };
    Some(SignedMessage::decode(message).map(|_| message))
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
