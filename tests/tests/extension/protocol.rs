//! A TCP connection for each exchange. A request is its path, a newline and its body; an answer is
//! its status in two bytes and its body. The side that has sent everything closes.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use futures_util::{AsyncReadExt as _, AsyncWriteExt as _};
use trackbed_connection::error::Step;
use trackbed_connection::{
    Capabilities, Connection, Dialer, Error, MAX_PATH_LEN, Request, Response, Security, Service,
    Transport, TransportStats, body,
};
use trackbed_core::ByteSize;
use trackbed_core::parameter::{Kind, Parameter};
use trackbed_protocols::parameters::over_tcp;
use trackbed_protocols::{
    ClientConfig, ListenAt, Protocol, Served, ServerConfig, ServerHandle, TransportParameters,
};
use trackbed_substrate::{Host, TcpOptions, TcpStream, spawn};

/// The registry entry.
pub struct Once;

impl Protocol for Once {
    fn name(&self) -> &'static str {
        "once"
    }

    fn summary(&self) -> &'static str {
        "a TCP connection for each exchange, not encrypted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { multiplexed: true, ..Capabilities::plain(Transport::Tcp) }
    }

    fn parameters(&self) -> Vec<Parameter> {
        const HELP: &str = "once: the most bytes of a body";
        let longest = Parameter::with_default("once-longest", Kind::Size, "1 MiB", HELP);
        [over_tcp(), vec![longest]].concat()
    }

    fn serve(
        &self,
        (host, address): ListenAt,
        config: &ServerConfig,
        service: Rc<dyn Service>,
    ) -> Served {
        let failed = |why| Error::lasting("once", Step::Listen, why);
        let listener = host.listen_tcp(address, &options(&config.transport)).map_err(failed)?;
        let (local, longest) = (listener.local_addr(), longest(&config.transport));
        let running = spawn(async move {
            while let Ok(stream) = listener.accept().await {
                let service = Rc::clone(&service);
                // A client that closes the connection early gets no answer.
                spawn(async move { drop(answer(stream, &*service, longest).await) }).detach();
            }
        });
        Ok(ServerHandle::new(local, None, running))
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>, Error> {
        let (options, longest) = (options(&config.transport), longest(&config.transport));
        Ok(Rc::new(Client { host, options, longest }))
    }
}

fn options(transport: &TransportParameters) -> TcpOptions {
    let congestion = transport.congestion.clone();
    TcpOptions { congestion, nodelay: true, ..transport.tcp.clone() }
}

fn longest(transport: &TransportParameters) -> usize {
    let longest: Option<ByteSize> = transport.arguments.get("once-longest");
    longest.map_or(1 << 20, |size| size.as_bytes() as usize)
}

async fn answer(
    mut stream: Box<dyn TcpStream>,
    service: &dyn Service,
    longest: usize,
) -> io::Result<()> {
    let mut text = Vec::new();
    (&mut stream).take((MAX_PATH_LEN + 1 + longest) as u64).read_to_end(&mut text).await?;
    let end = text.iter().position(|byte| *byte == b'\n').ok_or(io::ErrorKind::InvalidData)?;
    let body = text.split_off(end + 1);
    let path = String::from_utf8_lossy(&text[..end]);
    let response = service.call(Request::new(path, body::full(body))).await;
    let body = body::collect(response.body, longest).await.map_err(io::Error::other)?;
    stream.write_all(&[&response.status.to_be_bytes()[..], &body].concat()).await?;
    stream.close().await
}

#[derive(Clone)]
struct Client {
    host: Arc<dyn Host>,
    options: TcpOptions,
    longest: usize,
}

impl Dialer for Client {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>> {
        let open = Open { client: self.clone(), remote };
        Box::pin(async { Ok(Rc::new(open) as Rc<dyn Connection>) })
    }
}

struct Open {
    client: Client,
    remote: SocketAddr,
}

impl Connection for Open {
    fn exchange(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Error>> {
        Box::pin(async move {
            let body = body::collect(request.body, self.client.longest).await?;
            let text = [request.path.as_bytes(), b"\n", &body].concat();
            self.ask(&text).await.map_err(|why| Error::transient("once", Step::Receive, why))
        })
    }

    fn close(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn is_open(&self) -> bool {
        true
    }

    fn security(&self) -> Option<Security> {
        None
    }

    fn transport(&self) -> TransportStats {
        TransportStats::default()
    }
}

impl Open {
    async fn ask(&self, text: &[u8]) -> io::Result<Response> {
        let Client { host, options, longest } = &self.client;
        let mut stream = host.connect_tcp(None, self.remote, options).await?;
        stream.write_all(text).await?;
        stream.close().await?;
        let mut status = [0; 2];
        stream.read_exact(&mut status).await?;
        let mut body = Vec::new();
        stream.take(*longest as u64).read_to_end(&mut body).await?;
        Ok(Response { status: u16::from_be_bytes(status), body: body::full(body) })
    }
}
