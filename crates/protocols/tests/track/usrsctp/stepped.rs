//! usrsctp as an end on a host of the track: a program that receives the time with each packet.

use std::future::poll_fn;
use std::io::{BufReader, BufWriter, IoSliceMut, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::task::{Context, Poll};

use trackbed_substrate::ReceivedMeta;

use crate::support::*;

/// The program, until it is dropped.
pub struct Stepped {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Stepped {
    pub fn start(program: &Path, words: &[String]) -> Stepped {
        let mut command = Command::new(program);
        let mut child =
            command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = BufWriter::new(child.stdin.take().unwrap());
        let output = BufReader::new(child.stdout.take().unwrap());
        Stepped { child, input, output }
    }

    /// Passes the time and, unless it is empty, a packet to the program. Returns what the program
    /// sends, and whether its exchange is over.
    fn step(&mut self, packet: &[u8]) -> (Vec<Vec<u8>>, bool) {
        let time = (now() - Time::ZERO).as_micros() as u64;
        self.input.write_all(&time.to_ne_bytes()).unwrap();
        self.input.write_all(&(packet.len() as u32).to_ne_bytes()).unwrap();
        self.input.write_all(packet).unwrap();
        self.input.flush().unwrap();
        let mut packets = Vec::new();
        loop {
            let mut len = [0; 4];
            self.output.read_exact(&mut len).unwrap();
            let mut packet = vec![0; u32::from_ne_bytes(len) as usize];
            if packet.is_empty() {
                let mut over = [0];
                self.output.read_exact(&mut over).unwrap();
                return (packets, over[0] == 1);
            }
            self.output.read_exact(&mut packet).unwrap();
            packets.push(packet);
        }
    }

    /// Takes part in an association with `remote` by a socket of `host`. A client returns when it has
    /// its answer; a server goes on until this is dropped, because its answer may be lost.
    pub async fn attend(mut self, host: &dyn Host, local: SocketAddr, remote: SocketAddr) {
        let socket = host.bind_sctp(local).unwrap();
        let mut packet = Vec::new();
        loop {
            let (packets, over) = self.step(&packet);
            for payload in &packets {
                say(&*socket, remote, payload).await;
            }
            if over {
                return;
            }
            packet = next(&*socket).await;
        }
    }
}

/// The next packet, or an empty one when a tick comes first.
async fn next(socket: &dyn UdpSocket) -> Vec<u8> {
    let since = now() - Time::ZERO;
    let ticks = since.as_nanos() / TICK.as_nanos() + 1;
    let mut tick = pin!(sleep_until(Time::ZERO + TICK * ticks as u32));
    let mut buffer = vec![0; PACKET_LEN_MAX];
    let poll = |cx: &mut Context<'_>| {
        let mut meta = [ReceivedMeta::default()];
        let mut buffers = [IoSliceMut::new(&mut buffer)];
        match socket.poll_recv(cx, &mut buffers, &mut meta) {
            Poll::Ready(received) => received.map(|_| meta[0].len).map(Poll::Ready).unwrap(),
            Poll::Pending => tick.as_mut().poll(cx).map(|()| 0),
        }
    };
    let len = poll_fn(poll).await;
    buffer.truncate(len);
    buffer
}

impl Drop for Stepped {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// How often usrsctp looks at its timers when it has a thread of its own (TIMEOUT_INTERVAL).
const TICK: Duration = Duration::from_millis(10);

const PACKET_LEN_MAX: usize = 1_500;
