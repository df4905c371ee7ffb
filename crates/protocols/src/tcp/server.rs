//! The server's side of a connection.

use std::rc::Rc;

use futures_util::future::try_join;
use trackbed_connection::body::{PipeSender, pipe};
use trackbed_connection::{Request, Result, Service};
use trackbed_substrate::Standing;

use super::stream::{StreamInput, StreamOutput};
use crate::framing::{Delimiter, Reader, response_head, send_message};
use crate::tcp_transport::Stream;

/// Answers the requests of a connection until the client closes it. A client that breaks the
/// protocol, and a body that fails, cost the connection: it is reset.
pub(super) async fn serve(
    protocol: &'static str,
    (mut stream, standing): (Stream, Standing),
    service: Rc<dyn Service>,
) {
    let mut reader = Reader::new(protocol, StreamInput::new(protocol, stream.clone()));
    let mut output = StreamOutput::new(protocol, stream.clone());
    match exchanges(&mut reader, &mut output, &standing, &*service).await {
        // The last bytes are lost if the client is gone.
        Ok(()) => drop(stream.close().await),
        Err(_) => stream.abort(),
    }
}

async fn exchanges(
    reader: &mut Reader<StreamInput>,
    output: &mut StreamOutput,
    standing: &Standing,
    service: &dyn Service,
) -> Result<()> {
    while let Some((path, priority)) = reader.request().await? {
        standing.asked();
        // A service that does not read its body stops the client.
        let (sender, body) = pipe();
        let answer = async {
            let response = service.call(Request { priority, ..Request::new(path, body) }).await;
            let head = response_head(response.status);
            send_message(output, Delimiter::EmptyChunk, head, response.body).await
        };
        try_join(answer, receive(reader, sender)).await?;
    }
    Ok(())
}

/// Receives the body of a request to its end, also if the service does not want it: the next
/// request is behind it.
async fn receive(reader: &mut Reader<StreamInput>, mut sender: PipeSender) -> Result<()> {
    let mut left = 0;
    let end = loop {
        match reader.chunked_piece(&mut left).await {
            Ok(Some(piece)) => {
                let _wanted = sender.send(piece).await;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    sender.finish(end.clone());
    end
}
