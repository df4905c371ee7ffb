//! Compressed certificates (RFC 8879), by zlib.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rustls::CertificateCompressionAlgorithm;
use rustls::compress::{
    CertCompressor, CertDecompressor, CompressionFailed, CompressionLevel, DecompressionFailed,
};

use crate::config::Chain;

/// Makes an end send and take compressed certificates, if the chain is to be so.
pub(super) fn set(
    compressors: &mut Vec<&'static dyn CertCompressor>,
    decompressors: &mut Vec<&'static dyn CertDecompressor>,
    chain: &Chain,
) {
    if chain.compressed {
        compressors.push(&Zlib);
        decompressors.push(&Zlib);
    }
}

#[derive(Debug)]
struct Zlib;

impl CertCompressor for Zlib {
    fn compress(&self, input: Vec<u8>, _: CompressionLevel) -> Result<Vec<u8>, CompressionFailed> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        let all = encoder.write_all(&input).and_then(|()| encoder.finish());
        all.map_err(|_| CompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Zlib
    }
}

impl CertDecompressor for Zlib {
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressionFailed> {
        let mut decoder = ZlibDecoder::new(input);
        decoder.read_exact(output).map_err(|_| DecompressionFailed)?;
        // Not one byte more.
        match decoder.read(&mut [0]) {
            Ok(0) => Ok(()),
            _ => Err(DecompressionFailed),
        }
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Zlib
    }
}
