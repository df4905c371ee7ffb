//! Whole rides: the train receives data while operators have outages one after the other, with the daemon and
//! without it, in turns.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_send_buffer_size, set_tcp_congestion};
use trackbed_core::Time;

use crate::gpsd::{Behaviour, Gpsd};
use crate::railway::{Railway, SERVER};
use crate::ride::{RIDE, play_outages, ride, write_table};
use crate::support::Kept;
use crate::{alone, file, mptcp_connect, read, trackbed};

/// A time without any data.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    pub span: Duration,
    /// When it ended.
    pub until: Time,
}

#[derive(Debug)]
pub struct Outcome {
    /// The longest time without any data, from 2.5 s on.
    pub gap: Gap,
    /// Megabits per second from 2.5 s on.
    pub goodput_mbps: f64,
    /// The percentage of packets that the links released more than a millisecond late.
    pub late_percent: f64,
}

/// A running `trackbed phad` or `trackbed relay`, which is killed when it is dropped.
pub struct Daemon(pub Kept);

impl Daemon {
    pub fn start(railway: &Railway, arguments: &[&str], log: &str) -> Daemon {
        let operators = ["A=wwan0", "--operator", "B=wwan1"];
        let mut command = trackbed(&["phad", "--operator"]);
        command.args(operators).args(arguments);
        command.stderr(File::create(file(log)).unwrap());
        command.stdout(File::create(file(&log.replace(".log", ".out"))).unwrap());
        Daemon(Kept(railway.train.run(|| command.spawn().unwrap()).unwrap()))
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.0.0);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Stops it with a signal; returns whether it exited successfully.
    pub fn end(mut self) -> bool {
        self.signal(rustix::process::Signal::TERM);
        self.0.0.wait().unwrap().success()
    }
}

/// Sends as much as it can to all clients, until the ride is over.
pub fn serve(railway: &Railway, port: u16) {
    let listener = railway.listen(port);
    let clock = railway.clock;
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Without CUBIC, the machine's default is used.
        let _ = set_tcp_congestion(&stream, "cubic");
        // Data already mapped to a path uses that path despite MP_PRIO; with an auto-tuned buffer, this may be more than
        // a second of data.
        set_socket_send_buffer_size(&stream, SEND_BUFFER).unwrap();
        let chunk = vec![0x5a; 65_536];
        while clock.now() < Time::ZERO + RIDE && stream.write_all(&chunk).is_ok() {}
    });
}

/// Reads until the end, and records the arrival times.
pub fn receive(mut stream: TcpStream, railway: &Railway) -> (Gap, f64) {
    let (begin, end) = (Time::from_millis(2_500), Time::ZERO + RIDE - Duration::from_millis(200));
    let (mut last, mut bytes) = (begin, 0_u64);
    let mut gap = Gap { span: Duration::ZERO, until: begin };
    let longer = |gap: Gap, last: Time, now: Time| match now.since(last) {
        span if span > gap.span => Gap { span, until: now },
        _ => gap,
    };
    let mut buffer = vec![0; 262_144];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        let now = railway.clock.now();
        if now >= end || count == 0 {
            gap = longer(gap, last, end.max(last));
            return (gap, bytes as f64 * 8.0 / end.since(begin).as_secs_f64() / 1e6);
        }
        assert!(buffer[..count].iter().all(|byte| *byte == 0x5a), "every byte as it was sent");
        if now >= begin {
            gap = longer(gap, last, now);
            last = now;
            bytes += count as u64;
        }
    }
}

fn travel(with_daemon: bool) -> Outcome {
    let railway = Railway::new();
    let (ride, table) = (ride(), file("rides.geojson"));
    write_table(&table);
    let _gpsd = Gpsd::start(&railway.train, &ride, railway.clock, Behaviour::Honest);
    let state = file("rides.json");
    let daemon = with_daemon.then(|| {
        let (table, state) = (table.to_str().unwrap(), state.to_str().unwrap());
        Daemon::start(&railway, &["--table", table, "--state", state], "rides.log")
    });
    serve(&railway, 5_000);
    let address = SocketAddr::new(SERVER.into(), 5_000);
    let stream = railway.train.run(|| mptcp_connect(address).unwrap()).unwrap();
    let (gap, goodput_mbps) = thread::scope(|scope| {
        let received = scope.spawn(|| receive(stream.into(), &railway));
        play_outages(&railway);
        received.join().unwrap()
    });
    assert!(daemon.is_none_or(Daemon::end));
    assert_eq!(railway.backups(), [false; 2]);
    if with_daemon {
        let log = read("rides.log");
        let set = log.lines().filter(|line| line.contains("is a backup: a handover is ahead"));
        assert_eq!(set.count(), 4, "{log}");
    }
    let late_percent = 100.0 * railway.end().late_share();
    Outcome { gap, goodput_mbps, late_percent }
}

#[test]
#[ignore = "thorough: real time"]
fn with_the_daemon_data_keeps_coming_through_outages() {
    let Some(_alone) = alone() else { return };
    let mut outcomes = [Vec::new(), Vec::new()];
    for pair in 0..PAIRS {
        // In turns, so that a busy moment of the machine affects both.
        for with_daemon in [pair % 2 == 0, pair % 2 != 0] {
            let outcome = travel(with_daemon);
            println!(
                "daemon {with_daemon}: no data for {:?} until {:.3} s, {:.1} Mbit/s, {:.2} % of packets \
                 late",
                outcome.gap.span,
                outcome.gap.until.as_secs_f64(),
                outcome.goodput_mbps,
                outcome.late_percent,
            );
            outcomes[usize::from(with_daemon)].push(outcome);
        }
    }
    let median = |of: &dyn Fn(&Outcome) -> f64, outcomes: &[Outcome]| {
        let mut values: Vec<f64> = outcomes.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let gap = |outcome: &Outcome| outcome.gap.span.as_secs_f64();
    let [without, with] = [0, 1].map(|index| median(&gap, &outcomes[index]));
    let goodput = |outcome: &Outcome| outcome.goodput_mbps;
    let [slower, faster] = [0, 1].map(|index| median(&goodput, &outcomes[index]));
    println!("gaps {without} s and {with} s, goodput {slower} and {faster} Mbit/s");
    assert!(with * 5.0 <= without, "gaps of {without} s without and {with} s with the daemon");
    assert!(faster >= slower * 0.98, "{slower} Mbit/s without and {faster} with the daemon");
}

/// The server's send buffer, in bytes; the kernel doubles it.
const SEND_BUFFER: usize = 300_000;

/// Rides with and without.
const PAIRS: usize = 3;
