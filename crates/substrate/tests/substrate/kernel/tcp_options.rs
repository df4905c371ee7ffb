//! The substrate's TCP options on the kernel's sockets. An option that the kernel cannot honour is
//! refused; the error names the remedy.

use std::fs;
use std::io::Error;

use trackbed_tcp::config::HyStart;

use super::{defaults, run};
use crate::support::*;

/// The errors of connecting and listening with `options`.
fn refusals(options: TcpOptions) -> [Option<Error>; 2] {
    run(|host| async move {
        let listener = host.listen_tcp(address("127.0.0.1", 0), &defaults()).unwrap();
        let connecting = host.connect_tcp(None, listener.local_addr(), &options).await;
        let listening = host.listen_tcp(address("127.0.0.1", 0), &options);
        [connecting.err(), listening.err()]
    })
}

fn assert_refused(options: TcpOptions, advice: &str) {
    for error in refusals(options).map(|error| error.expect(advice)) {
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(error.to_string().contains(advice), "{error}");
    }
}

#[test]
fn an_unknown_congestion_control_is_refused_with_what_there_is() {
    assert_refused(TcpOptions { congestion: "pigeon".to_owned(), ..defaults() }, "reno");
    assert_refused(TcpOptions { congestion: String::new(), ..defaults() }, "choose one of");
}

#[test]
fn ecn_is_what_the_system_says_or_refused_with_the_sysctl() {
    let mode = fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").unwrap();
    let (asks, answers) = match mode.trim() {
        "0" => (false, false),
        "1" | "3" | "4" => (true, true),
        _ => (false, true),
    };
    for wanted in [true, false] {
        let [connecting, listening] = refusals(TcpOptions { ecn: Some(wanted), ..defaults() });
        for (refusal, given) in [(connecting, asks), (listening, answers)] {
            assert_eq!(refusal.is_none(), wanted == given, "{refusal:?}");
            if let Some(error) = refusal {
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
                let advice = format!("net.ipv4.tcp_ecn to {}", u8::from(wanted));
                assert!(error.to_string().contains(&advice), "{error}");
            }
        }
    }
}

#[test]
fn hystart_is_what_the_module_says_or_refused_with_the_parameter() {
    const PARAMETER: &str = "/sys/module/tcp_cubic/parameters/hystart";
    let given = fs::read_to_string(PARAMETER).map_or(true, |text| text.trim() != "0");
    let cubic = TcpOptions::default().congestion;
    let hystart = if given { HyStart::Off } else { HyStart::Linux };
    let plus_plus =
        TcpOptions { hystart: HyStart::Rfc9406, congestion: cubic.clone(), ..defaults() };
    assert_refused(plus_plus, "RFC 9406");
    let other = TcpOptions { hystart, congestion: cubic, ..defaults() };
    assert_refused(other.clone(), PARAMETER);
    // Only CUBIC has it.
    let reno = TcpOptions { congestion: "reno".to_owned(), ..other };
    assert!(refusals(reno).iter().all(Option::is_none));
}

#[test]
fn what_the_kernel_can_do_it_does() {
    let options = TcpOptions {
        nodelay: true,
        send_buffer: Some(50_000),
        receive_buffer: Some(60_000),
        keepalive: Some(Duration::from_secs(9)),
        ..defaults()
    };
    run(|host| async move {
        let listener = host.listen_tcp(address("127.0.0.1", 0), &options).unwrap();
        let mut ours = host.connect_tcp(None, listener.local_addr(), &options).await.unwrap();
        let theirs = listener.accept().await.unwrap();
        // Small buffers hold little unread data.
        let mut written = 0;
        while let Some(count) = ours.write(&[0; 10_000]).now_or_never() {
            written += count.unwrap();
        }
        assert!((10_000..1_000_000).contains(&written), "{written}");
        drop(theirs);
    });
}

#[test]
fn impossible_numbers_are_refused_with_what_is_possible() {
    assert_refused(TcpOptions { send_buffer: Some(0), ..defaults() }, "choose 2304 to 1073741824");
    let huge = TcpOptions { receive_buffer: Some(usize::MAX), ..defaults() };
    assert_refused(huge, "choose 2304 to 1073741824");
    for idle in [Duration::from_millis(1_500), Duration::ZERO, Duration::from_secs(40_000)] {
        assert_refused(TcpOptions { keepalive: Some(idle), ..defaults() }, "1 to 32767");
    }
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    run(|host| async move {
        let options = defaults();
        let connect = async |local: Option<&str>, remote| {
            let local = local.map(|local| local.parse::<IpAddr>().unwrap());
            host.connect_tcp(local, remote, &options).await.err().unwrap()
        };
        let mixed = connect(Some("127.0.0.1"), address("::1", 80)).await;
        assert_eq!(mixed.kind(), ErrorKind::InvalidInput, "{mixed}");
        let foreign = connect(Some("192.0.2.1"), address("127.0.0.1", 80)).await;
        assert_eq!(foreign.kind(), ErrorKind::AddrNotAvailable, "{foreign}");
        for nobody in [address("127.0.0.1", 0), address("0.0.0.0", 80), address("224.0.0.1", 80)] {
            let error = connect(None, nobody).await;
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        }
        let elsewhere = host.listen_tcp(address("192.0.2.1", 80), &options).err().unwrap();
        assert_eq!(elsewhere.kind(), ErrorKind::AddrNotAvailable);
        assert!(elsewhere.to_string().contains("the host \"here\""), "{elsewhere}");
    });
}
