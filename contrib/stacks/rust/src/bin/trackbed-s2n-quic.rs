//! A server of s2n-quic for Trackbed: exchanges on plain streams. It has neither HTTP/3 nor early data.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use s2n_quic::Server;
use s2n_quic::provider::endpoint_limits::Default as Endpoint;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::stream::BidirectionalStream;
use trackbed_stacks::{Options, Request, STREAMS, exit, framed};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Err(why) = serve().await else { return };
    exit("trackbed-s2n-quic", why)
}

async fn serve() -> Result<(), Box<dyn Error + Send + Sync>> {
    let options = Options::read()?;
    // Gathering the first random numbers takes a tenth of a second, which would delay the first handshake.
    aws_lc_rs::rand::fill(&mut [0; 32]).map_err(|_| "no random numbers")?;
    let tls = rustls::Server::builder()
        .with_certificate(Path::new(&options.certificate), Path::new(&options.key))?
        .with_application_protocols([STREAMS].iter())?
        .build()?;
    let limits = Limits::new().with_max_idle_timeout(Duration::from_secs(60))?;
    let mut endpoint = Endpoint::builder();
    if options.retry {
        endpoint = endpoint.with_inflight_handshake_limit(0)?;
    }
    let server = Server::builder().with_tls(tls)?.with_limits(limits)?;
    let server = server.with_endpoint_limits(endpoint.build()?)?.with_io(options.address)?;
    let mut server = server.start()?;
    let site: Arc<Path> = options.site.into();
    while let Some(mut connection) = server.accept().await {
        let site = site.clone();
        tokio::spawn(async move {
            while let Ok(Some(stream)) = connection.accept_bidirectional_stream().await {
                tokio::spawn(exchange(stream, site.clone()));
            }
        });
    }
    Err("the endpoint ended".into())
}

async fn exchange(mut stream: BidirectionalStream, site: Arc<Path>) {
    if answer(&mut stream, &site).await.is_err() {
        // A part must not pass for the whole.
        let _ = stream.stop_sending(1u8.into());
        let _ = stream.reset(1u8.into());
    }
}

async fn answer(stream: &mut BidirectionalStream, site: &Path) -> Result<(), Box<dyn Error>> {
    let mut request = Request::default();
    while let Some(data) = stream.receive().await? {
        request.take(&data)?;
    }
    let (status, body) = request.answer(site)?;
    stream.send(framed(status, &body).into()).await?;
    Ok(stream.finish()?)
}
