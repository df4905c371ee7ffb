//! `trackbed v2x`: decodes V2X messages and certificates.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use trackbed_v2x::json;

use crate::ending::Ending;
use crate::output;

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

FILE contains one message or one certificate, binary or in hexadecimal. \"data\" contains its fields under
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
    let shown = json::describe(&unhex(bytes))
        .with_context(|| format!("{} is not a signed message or certificate", path.display()))?;
    output::print(&output::json(&shown)?)?;
    Ok(Ending::Success)
}

/// More than any message in hexadecimal; longer input is refused.
const MAX_LEN: u64 = 64 * 1_024;

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match path.to_str() {
        Some("-") => io::stdin().lock().take(MAX_LEN).read_to_end(&mut bytes)?,
        _ => File::open(path)?.take(MAX_LEN).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// Decodes hexadecimal input; other input is unchanged. No binary message consists of digits alone: it begins
/// with the byte 3 or 128.
fn unhex(bytes: Vec<u8>) -> Vec<u8> {
    let digits: Option<Vec<u8>> = bytes
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| char::from(*byte).to_digit(16).map(|digit| digit as u8))
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => {
            digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
        }
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_input_is_decoded_and_binary_input_unchanged() {
        assert_eq!(unhex(b"03 81\n0a".to_vec()), [3, 0x81, 10]);
        assert_eq!(unhex(vec![3, 0x81]), [3, 0x81]);
        assert_eq!(unhex(b"038".to_vec()), b"038");
    }
}
