//! A service to talk to, and what is sent to it.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use trackbed_connection::{Body, Connection, Error, Request, Response, body};
use trackbed_core::{Rng, Seed};

/// `/echo` returns the body while it arrives; `/digest` its SHA-256; `/ignore` answers without
/// reading it; `/zeros?N` returns N bytes; `/broken` fails after some; `/never` does not answer;
/// others are not found.
pub async fn service(request: Request) -> Response {
    let path = request.path.as_str();
    let body = match path.split_once('?').unwrap_or((path, "")) {
        ("/echo", _) => request.body,
        ("/digest", _) => body::full(digest(request.body).await.unwrap().to_vec()),
        ("/ignore", _) => body::full("ignored"),
        ("/zeros", len) => body::zeros(len.parse().unwrap()),
        ("/broken", _) => broken(100_000),
        ("/never", _) => std::future::pending().await,
        ("/status", status) => {
            return Response { status: status.parse().unwrap(), body: body::empty() };
        }
        _ => return Response { status: 404, body: body::empty() },
    };
    Response { status: 200, body }
}

/// A body that fails after `len` bytes.
pub fn broken(len: usize) -> Body {
    let end = Error::Body { reason: "out of paper".to_owned() };
    Box::pin(stream::iter([Ok(vec![0; len].into()), Err(end)]))
}

/// Sends `len` bytes of [`noise`] and checks that they come back.
pub async fn echo(connection: &dyn Connection, len: usize, seed: u64) {
    let (upload, sum) = noise(len, seed);
    let response = connection.exchange(post("/echo", upload)).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(digest(response.body).await.unwrap(), sum, "{len} bytes of seed {seed}");
}

/// Sends `len` bytes of [`noise`] and checks that the server has received them.
pub async fn upload(connection: &dyn Connection, len: usize, seed: u64) {
    let (upload, sum) = noise(len, seed);
    let response = connection.exchange(post("/digest", upload)).await.unwrap();
    assert_eq!(body::collect(response.body, 32).await.unwrap(), sum[..]);
}

pub fn post(path: &str, body: Body) -> Request {
    Request::new(path, body)
}

pub fn get(path: &str) -> Request {
    post(path, body::empty())
}

/// `len` pseudo-random bytes.
pub fn random(len: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rng.fill(&mut bytes);
    bytes
}

/// A body of `len` pseudo-random bytes in pieces of many sizes, and its digest.
pub fn noise(len: usize, seed: u64) -> (Body, [u8; 32]) {
    let mut rng = Seed::of_run(seed, 0).stream("noise");
    let bytes = random(len, &mut rng);
    let sum = Sha256::digest(&bytes).into();
    let rest = Bytes::from(bytes);
    let pieces = stream::unfold((rest, rng), async |(mut rest, mut rng)| {
        let len = rest.len().min(1 + rng.below(40_000) as usize);
        (len > 0).then(|| (Ok(rest.split_to(len)), (rest, rng)))
    });
    (Box::pin(pieces), sum)
}

pub async fn digest(mut body: Body) -> Result<[u8; 32], Error> {
    let mut hash = Sha256::new();
    while let Some(piece) = body.next().await.transpose()? {
        hash.update(&piece);
    }
    Ok(hash.finalize().into())
}
