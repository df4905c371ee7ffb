use crate::harness::*;

fn spells(down: &[(u64, u64)]) -> Spells {
    let ms = Time::from_millis;
    Spells::new(down.iter().map(|(from, until)| (ms(*from), ms(*until)))).unwrap()
}

fn outage(down: &[(u64, u64)]) -> Outage {
    Outage { down: spells(down) }
}

fn pause(down: &[(u64, u64)]) -> Pause {
    Pause { down: spells(down) }
}

fn millisecond_packets(queue: u64) -> Rate {
    Rate::new(Bitrate::from_mbps(12), DropTail::of_packets(queue))
}

#[test]
fn what_is_sent_while_down_is_lost_and_what_was_sent_before_arrives() {
    let spec = LinkSpec::new()
        .with(Delay::fixed(ms(100)))
        .with(millisecond_packets(10))
        .with(outage(&[(3, 5), (7, 8)]));
    // Sent at 1, 2, ..., 10 ms; down from 3 until just before 5, and at 7.
    let events = run(&spec, burst(10));
    assert_eq!(numbers(&events, Point::Dropped(DropReason::Outage)), [2, 3, 6]);
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 4, 5, 7, 8, 9]);
    assert_eq!(times(&events, Point::Delivered)[1], Time::from_millis(102));
}

#[test]
fn held_packets_wait_in_the_queue_and_leave_at_the_rate() {
    let spec = LinkSpec::new()
        .with(Delay::fixed(ms(100)))
        .with(millisecond_packets(3))
        .with(pause(&[(2, 50)]));
    // Packets 0 and 1 are sent before. At 2 ms, packet 2 finds the link paused; 3, 4 and 5 fill the queue.
    let events = run(&spec, every(ms(1), 10));
    let full = Point::Dropped(DropReason::QueueFull);
    assert_eq!(numbers(&events, full), [6, 7, 8, 9]);
    assert_eq!(times(&events, full)[0], Time::from_millis(6));
    let expected = [101, 102, 151, 152, 153, 154].map(Time::from_millis);
    assert_eq!(times(&events, Point::Delivered), expected);
}

#[test]
fn a_packet_that_is_half_sent_goes_on_where_it_stopped() {
    let spec = LinkSpec::new()
        .then(pause(&[(1, 10), (11, 20)]))
        .then(Rate::new(Bitrate::from_mbps(6), DropTail::of_packets(5)));
    // 2 ms each: half before 1 ms, half from 10 to 11; the next one after 20.
    assert_eq!(times(&run(&spec, burst(2)), Point::Delivered), [11, 22].map(Time::from_millis));
}

#[test]
fn without_a_rate_held_packets_pass_together_when_the_link_comes_up() {
    let spec = LinkSpec::new().then(pause(&[(2, 50)])).then(Delay::fixed(ms(1)));
    let events = run(&spec, every(ms(1), 5));
    assert_eq!(times(&events, Point::Delivered), [1, 2, 51, 51, 51].map(Time::from_millis));
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2, 3, 4]);
}

#[test]
fn opportunities_of_a_trace_are_lost_while_it_is_paused() {
    let trace = RateTrace::new(Trace::parse("10").unwrap(), DropTail::of_packets(9));
    let spec = LinkSpec::new().then(pause(&[(15, 45)])).then(trace);
    assert_eq!(times(&run(&spec, burst(3)), Point::Delivered), [10, 50, 60].map(Time::from_millis));
}

#[test]
fn an_idle_link_sleeps_through_outages() {
    let down: Vec<(u64, u64)> = (0..1_000).map(|n| (n * 10, n * 10 + 5)).collect();
    let links = [LinkSpec::new().with(outage(&down)), LinkSpec::new().with(pause(&down))];
    for link in links {
        let link = link.with(millisecond_packets(5));
        let mut driver = Driver::new(link.build(&Seed::of_run(1, 0)), Events::new());
        assert_eq!(driver.link.next_wake(), None);
        driver.push(Time::from_millis(5_007), packet(0, 1500));
        driver.drain();
        assert_eq!(times(&driver.seen, Point::Delivered), [Time::from_millis(5_008)]);
        assert_eq!(driver.link.next_wake(), None);
    }
}

#[test]
fn impossible_timetables_are_refused() {
    let refuse = |down: [(u64, u64); 2], part: &str| {
        let down = down.map(|(from, until)| (Time::from_millis(from), Time::from_millis(until)));
        let error = Spells::new(down).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refuse([(1, 2), (3, 3)], "is empty");
    refuse([(1, 5), (4, 6)], "before the previous one ends");
    refuse([(5, 6), (1, 2)], "before the previous one ends");
}
