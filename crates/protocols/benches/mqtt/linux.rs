//! The measurements.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use trackbed_core::Time;
use trackbed_mqtt::broker::{Broker, Flow, Limits};
use trackbed_mqtt::client::{Client, Event, Settings};
use trackbed_mqtt::{Message, Qos, Subscription};

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const MESSAGES: usize = 400_000;
const ROUNDS: usize = 3;

/// The allocator of the `trackbed` binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub fn main() {
    if std::env::args().any(|word| word == "broker") {
        return serve_plainly();
    }
    for round in 1..=ROUNDS {
        for (name, start) in [("ours", ours as fn() -> Option<Running>), ("mosquitto", mosquitto)] {
            let Some(broker) = start() else { continue };
            for (qos, count) in [(Qos::AtMostOnce, MESSAGES), (Qos::AtLeastOnce, MESSAGES / 4)] {
                let before = processor_seconds(broker.process.id());
                let seconds = messages(broker.address, qos, count);
                let used = processor_seconds(broker.process.id()) - before;
                println!(
                    "round {round}, {name}, QoS {}: {:.0} messages/s of 64 B, {:.2} us of the broker's \
                     processor for each, {:.0} messages/s of its processor",
                    qos.name(),
                    count as f64 / seconds,
                    used * 1e6 / count as f64,
                    count as f64 / used,
                );
            }
        }
    }
}

/// A broker in a process of its own.
struct Running {
    process: Child,
    address: SocketAddr,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _waited = self.process.wait();
    }
}

fn pinned(program: &std::path::Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program);
    command
}

/// Our broker, in a second process of this program.
fn ours() -> Option<Running> {
    let mut process =
        pinned(&std::env::current_exe().ok()?).arg("broker").stdout(Stdio::piped()).spawn().ok()?;
    let mut line = String::new();
    BufReader::new(process.stdout.take()?).read_line(&mut line).ok()?;
    Some(Running { process, address: line.trim().parse().ok()? })
}

fn mosquitto() -> Option<Running> {
    let program = std::path::Path::new("/usr/sbin/mosquitto");
    if !program.is_file() {
        println!("SKIPPED: mosquitto is not installed: apt install mosquitto");
        return None;
    }
    let port = TcpListener::bind((HERE, 0)).ok()?.local_addr().ok()?.port();
    let path = std::env::temp_dir().join(format!("mosquitto-{port}.conf"));
    // Without a limit nothing is dropped, and without a delay nothing waits.
    let text = format!(
        "user root\nlistener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n\
         log_dest none\nmax_queued_messages 0\nmax_queued_bytes 0\nmax_inflight_messages 1000\n\
         set_tcp_nodelay true\n"
    );
    std::fs::write(&path, text).ok()?;
    let process = pinned(program).arg("-c").arg(&path).spawn().ok()?;
    let address = SocketAddr::from((HERE, port));
    for _ in 0..500 {
        if TcpStream::connect(address).is_ok() {
            return Some(Running { process, address });
        }
        thread::park_timeout(Duration::from_millis(20));
    }
    None
}

/// The broker on bare TCP, as Mosquitto is here: a thread, and a poll(2) of all its sockets.
fn serve_plainly() {
    let listener = TcpListener::bind((HERE, 0)).expect("a free port");
    println!("{}", listener.local_addr().expect("an address"));
    listener.set_nonblocking(true).expect("a socket");
    let mut broker = Broker::new(Limits { output_bytes: 256 << 20, ..Limits::default() });
    let mut streams: Vec<(trackbed_mqtt::broker::ConnectionId, TcpStream, Vec<u8>)> = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let mut polled = vec![PollFd::new(&listener, PollFlags::IN)];
        for (_, stream, out) in &streams {
            let out = if out.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            polled.push(PollFd::new(stream, PollFlags::IN | out));
        }
        // Interrupted or not, every socket is checked.
        let _ready = poll(&mut polled, None);
        drop(polled);
        if let Ok((stream, _)) = listener.accept()
            && let Some(id) = broker.open(Time::ZERO)
        {
            stream.set_nonblocking(true).expect("a socket");
            stream.set_nodelay(true).expect("a socket");
            streams.push((id, stream, Vec::new()));
        }
        streams.retain_mut(|(id, stream, _)| {
            let open = match stream.read(&mut buffer) {
                Ok(0) => false,
                Ok(len) => {
                    broker.receive(*id, &buffer[..len], Time::ZERO);
                    true
                }
                Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
            };
            if !open {
                broker.close(*id, Time::ZERO);
            }
            open
        });
        while broker.next_ready().is_some() {}
        for (id, stream, out) in &mut streams {
            if out.is_empty() && broker.take_output(*id, Time::ZERO, out) == Flow::Closing {
                continue;
            }
            if let Ok(len) = stream.write(out) {
                out.drain(..len);
            }
        }
    }
}

/// Sends `count` messages from one client to another; returns the seconds from the first to the last.
fn messages(address: SocketAddr, qos: Qos, count: usize) -> f64 {
    let (ready, is_ready) = std::sync::mpsc::channel();
    let subscriber = thread::spawn(move || {
        let mut end = End::connect(address, "subscriber");
        end.client
            .subscribe(vec![Subscription::new("bench/#", qos)], None, Time::ZERO)
            .expect("a filter");
        end.wait(|event| matches!(event, Event::Subscribed { .. }), 1);
        ready.send(()).expect("a receiver waits");
        end.wait(|event| matches!(event, Event::Received { .. }), count);
    });
    is_ready.recv().expect("it subscribes");
    let start = Instant::now();
    let mut end = End::connect(address, "publisher");
    for _ in 0..count {
        let message = Message { qos, ..Message::new("bench/topic", [7; 64]) };
        end.client.publish(message, 0, Time::ZERO).expect("a topic");
        if end.client.output().len() > 16 << 10 {
            end.flush();
        }
        while qos != Qos::AtMostOnce && end.client.unacknowledged() >= 500 {
            end.wait(|event| matches!(event, Event::Acknowledged { .. }), 1);
        }
    }
    end.flush();
    subscriber.join().expect("the subscriber");
    start.elapsed().as_secs_f64()
}

/// A client on a blocking socket.
struct End {
    client: Client,
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl End {
    fn connect(address: SocketAddr, name: &str) -> End {
        let stream = TcpStream::connect(address).expect("a broker");
        stream.set_nodelay(true).expect("a socket");
        let settings =
            Settings { client_id: name.to_owned(), keep_alive_secs: 0, ..Settings::default() };
        let mut client = Client::new(settings);
        client.connect(Time::ZERO).expect("settings");
        let mut end = End { client, stream, buffer: vec![0; 256 << 10] };
        end.wait(|event| matches!(event, Event::Connected { .. }), 1);
        end
    }

    fn flush(&mut self) {
        self.stream.write_all(self.client.output()).expect("a connection");
        self.client.output().clear();
    }

    fn wait(&mut self, wanted: impl Fn(&Event) -> bool, count: usize) {
        let mut seen = 0;
        loop {
            while let Some(event) = self.client.next_event() {
                seen += usize::from(wanted(&event));
            }
            if seen >= count {
                return;
            }
            self.flush();
            let len = self.stream.read(&mut self.buffer).expect("a connection");
            assert!(len > 0, "the broker hangs up");
            self.client.receive(&self.buffer[..len], Time::ZERO);
        }
    }
}

/// The processor time that a process has used, in user and system mode (`utime` and `stime` of proc(5),
/// counted in hundredths of a second).
fn processor_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
