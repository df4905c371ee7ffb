//! Nothing in the substrate reads a clock or draws randomness while it simulates, and the tripwire
//! that checks this works.
#![cfg(target_os = "linux")]

mod support;
#[path = "support/tripwire.rs"]
mod tripwire;

use std::collections::HashMap;
use std::ffi::c_long;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures_util::AsyncWriteExt as _;
use support::{CLIENT, SERVER, address, echo, pair_by, read_all, receive, seed, send};
use trackbed_core::{Bitrate, Ratio, Time};
use trackbed_net::models::Loss;
use trackbed_net::{Network, NetworkBuilder};
use trackbed_substrate::simulated::{Hosts, Simulation};
use trackbed_substrate::{
    Entropy, TcpOptions, is_simulating, sleep, spawn, spawn_named, to_std_instant, wall_clock,
};
use tripwire::{passed, take_violations};

/// The violations are the process's, so the tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    take_violations();
    turn
}

#[test]
fn a_run_with_timers_udp_tcp_and_entropy_touches_nothing() {
    let _turn = turn();
    let spec = support::link(Bitrate::from_mbps(20), Duration::from_millis(5), 30_000)
        .with(Loss::bernoulli(Ratio::from_parts(1, 100)));
    Simulation::default().run(seed(), pair_by(&spec, &seed()), everything).unwrap();
    let violations = take_violations();
    assert!(violations.is_empty(), "{violations:#?}");
}

async fn everything(hosts: Hosts) {
    let [client, server] = ["client", "server"].map(|name| hosts.get(name).unwrap());
    spawn_named("echo", echo(server.bind_udp(address(SERVER, 7)).unwrap())).detach();
    let socket = client.bind_udp(address(CLIENT, 0)).unwrap();
    send(&*socket, address(SERVER, 7), b"ping").await.unwrap();
    let answered = spawn(async move { receive(&*socket).await.is_ok() });
    sleep(Duration::from_millis(30)).await;
    drop(answered);
    let Entropy::Seeded(entropy) = client.entropy() else { panic!("not seeded") };
    entropy.fill(&mut [0; 64]).unwrap();
    assert!(fastrand::u64(..) != fastrand::u64(..));
    let mut map = HashMap::new();
    map.insert(wall_clock(), to_std_instant(trackbed_substrate::now()));
    let listener = server.listen_tcp(address(SERVER, 80), &TcpOptions::default()).unwrap();
    let serving = spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        let sink = read_all(&mut stream).await;
        stream.write_all(&sink).await.unwrap();
        stream.close().await.unwrap();
    });
    let connect = client.connect_tcp(None, address(SERVER, 80), &TcpOptions::default());
    let mut stream = connect.await.unwrap();
    stream.write_all(&[7; 300_000]).await.unwrap();
    stream.close().await.unwrap();
    assert_eq!(read_all(&mut stream).await.len(), 300_000);
    serving.await;
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the very calls that the tripwire must catch")]
fn every_way_to_the_clock_or_to_randomness_trips() {
    let _turn = turn();
    let calls: [(fn(), &str); 4] = [
        (|| assert!(to_std_instant(Time::MAX) > Instant::now()), "clock_gettime"),
        (|| assert!(SystemTime::now() > SystemTime::UNIX_EPOCH), "clock_gettime"),
        (|| assert_eq!(random_by_library().len(), 16), "getrandom"),
        (|| assert_eq!(random_by_system_call().len(), 16), "syscall(SYS_getrandom)"),
    ];
    for (call, function) in calls {
        Simulation::default().run(seed(), nothing(), |_| async move { call() }).unwrap();
        let violations = take_violations();
        assert_eq!(violations.len(), 1, "{function}: {violations:#?}");
        assert_eq!(violations[0].function, function);
        assert!(violations[0].backtrace.contains("tripwire"), "{}", violations[0].backtrace);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "threads that do not simulate may read clocks")]
fn threads_that_do_not_simulate_get_what_the_operating_system_gives() {
    let _turn = turn();
    let check = || {
        assert!(!is_simulating());
        let before = passed();
        let draws = [random_by_library(), random_by_library(), random_by_system_call()];
        assert!(draws[0] != draws[1] && draws[1] != draws[2] && draws[0] != [0; 16]);
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(50) {}
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert!(since_1970 > Duration::from_secs(1_600_000_000));
        assert!(passed() >= before + 6, "the calls went elsewhere");
    };
    check();
    // Nor does it matter that a run is under way beside them.
    let beside = |_| async { std::thread::scope(|scope| scope.spawn(check).join().unwrap()) };
    Simulation::default().run(seed(), nothing(), beside).unwrap();
    assert!(take_violations().is_empty());
}

fn nothing() -> Network {
    NetworkBuilder::default().build().unwrap()
}

/// As the `getrandom` crate from version 0.3 on and the standard library draw.
fn random_by_library() -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: the buffer is valid for its length.
    let count = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    assert_eq!(count, 16);
    bytes
}

/// As version 0.2 of the `getrandom` crate, and with it `ring`, draws.
fn random_by_system_call() -> [u8; 16] {
    let mut bytes = [0_u8; 16];
    let number: c_long = libc::SYS_getrandom;
    // SAFETY: the arguments are those of getrandom(2), and the buffer is valid for its length.
    let count = unsafe { libc::syscall(number, bytes.as_mut_ptr(), bytes.len(), 0) };
    assert_eq!(count, 16);
    bytes
}
