//! Priorities (RFC 9218) reach the service, and QUIC servers send by them.

use trackbed_connection::Priority;

use crate::support::*;

const LEN: u64 = 1_000_000;

#[test]
fn a_service_is_told_what_the_client_asked_for() {
    for_each_protocol_over(&fast(100), async |protocol, track| {
        let told: Rc<RefCell<Vec<Option<Priority>>>> = Rc::default();
        let telling = Rc::clone(&told);
        let tell = move |request: Request| {
            telling.borrow_mut().push(request.priority);
            service(request)
        };
        let server = track.serve_with(protocol, &ServerConfig::default(), Rc::new(tell));
        let connection = track.connect(protocol, &server, Default::default()).await;
        let asked = [None, Some(urgency(0, false)), Some(urgency(3, true))];
        for priority in asked {
            let request = Request { priority, ..get("/zeros?10") };
            let response = connection.exchange(request).await.unwrap();
            assert_eq!(body::drain(response.body).await, Ok(10));
        }
        assert_eq!(told.take(), asked, "{}", protocol.name());
    });
}

/// Two responses of a megabyte take 160 ms at 100 Mbit/s. Where one goes first it is complete in
/// half the time; where they share, both need all of it.
#[test]
fn an_urgent_response_overtakes_and_equal_ones_take_turns() {
    for name in ["http3", "mpquic", "quic"] {
        let [first, second] = ends(name, [Some(urgency(5, false)), Some(urgency(1, false))]);
        assert!(second * 10 < first * 7, "{name}: {first:?} {second:?}");
        let [first, second] = ends(name, [Some(urgency(3, false)), Some(urgency(3, false))]);
        assert!(first * 10 < second * 7, "{name}: {first:?} {second:?}");
        for shared in [Some(urgency(3, true)), None] {
            let [first, second] = ends(name, [shared, shared]);
            assert!(first.abs_diff(second) * 20 < first, "{name}: {first:?} {second:?}");
        }
    }
}

/// When, in nanoseconds since the requests, each of two long responses was complete.
fn ends(name: &str, priorities: [Option<Priority>; 2]) -> [u64; 2] {
    let protocol = protocol(name);
    simulate(&fast(100), |track| async move {
        let (_server, connection) = track.connected(protocol).await;
        // Past slow start, so that shares are those of the rate.
        fetch(&*connection, 3_000_000).await;
        let asked: Time = now();
        let exchange = |priority| {
            let connection = Rc::clone(&connection);
            async move {
                let request = Request { priority, ..get(&format!("/zeros?{LEN}")) };
                let response = connection.exchange(request).await.unwrap();
                assert_eq!(body::drain(response.body).await, Ok(LEN));
                (now() - asked).as_nanos() as u64
            }
        };
        let ends = join_all(priorities.map(exchange)).await;
        [ends[0], ends[1]]
    })
}

fn urgency(urgency: u8, incremental: bool) -> Priority {
    Priority { urgency, incremental }
}
