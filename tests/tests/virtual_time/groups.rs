//! Groups that share a link, against arithmetic.

use trackbed_core::{Event, Time};
use trackbed_lab::run::Runner;
use trackbed_measure::results::{CellResult, Document};
use trackbed_scenario::{self as scenario, Plan, Source};
use trackbed_substrate::Cancel;
use trackbed_tests::{document_of, run};

/// Downloads in two groups of one member each, over TCP on 20 Mbit/s; `more` is written below the second.
fn two(head: &str, link: &str, workload: &str, more: &str) -> Plan {
    let text = format!(
        "protocol = \"tcp\"\n{head}\n[link]\nrate = \"20 Mbit/s\"\n{link}\n[workload]\n{workload}\n[group.one]\nevery = \"2 s\"\narrivals = \"uniform\"\n\
         [group.two]\narrivals = \"uniform\"\n{more}\n"
    );
    scenario::load(&Source::recorded("two.toml", &text), &[])
        .unwrap_or_else(|error| panic!("{error}"))
}

fn shares(plan: &Plan) -> [f64; 2] {
    let document: Document = document_of(plan, &run(plan, 2));
    [0, 1].map(|cell: usize| {
        assert_eq!(document.cells[cell].failed, 0);
        document.cells[cell].metrics["traffic_share_percent"].mean
    })
}

#[test]
fn equal_flows_share_equally() {
    let plan = two(
        "runs = 30\ncongestion = \"cubic\"",
        "delay = \"10 ms\"\nqueue = \"codel\"",
        FLOW,
        "every = \"2 s\"",
    );
    let [one, two] = shares(&plan);
    assert!((one - 50.0).abs() < 1.0 && (one + two - 100.0).abs() < 1e-9, "{one} % and {two} %");
}

/// 100 packets of 1,500 bytes behind the one that is sent last 60 ms. CUBIC falls to 70 % of 133 packets, of which the
/// path holds 33, so that 60 or more wait.
#[test]
fn two_cubic_flows_fill_a_link_and_its_queue() {
    let link = "delay = \"10 ms\"\nqueue = \"100 packets\"";
    let plan = two("runs = 3\ncongestion = \"cubic\"", link, FLOW, "every = \"2 s\"");
    let document = document_of(&plan, &run(&plan, 2));
    for cell in &document.cells {
        let [used, waits, converged] =
            ["utilisation_percent", "queue_delay_ms", "convergence_ms"].map(|it| &cell.metrics[it]);
        assert!(used.min > 99.0 && used.max <= 100.0, "{used:?}");
        assert!((36.0..60.0).contains(&waits.p50) && waits.p95 > 50.0, "{waits:?}");
        assert!(waits.max <= 60.6 * 1.01, "{waits:?}");
        assert!(converged.n == 3 && converged.max <= 60_000.0, "{converged:?}");
    }
}

/// A handshake and a request take two round trips, and the way through the access link 40 ms longer for each.
#[test]
fn an_access_link_lies_before_the_first_of_two_links() {
    let of = |access: &str, metric: &str| {
        let text = format!(
            "protocol = \"tcp\"\nruns = 1\n[link]\ndelay = \"10 ms\"\n[second-link]\ndelay = \"5 ms\"\n{access}\n\
             [workload]\nkind = \"bulk\"\nsize = \"1 kB\"\n"
        );
        let plan = scenario::load(&Source::recorded("paths.toml", &text), &[]).unwrap();
        document_of(&plan, &run(&plan, 1)).cells[0].metrics[metric].mean
    };
    let took = |access: &str| of(access, "completion_ms");
    let more = took("[access]\ndelay = \"20 ms\"") - took("");
    assert!((more - 80.0).abs() < 0.1, "{more} ms");
    assert!((1.0..60.0).contains(&of("[access]\nloss = \"30 %\"", "loss_percent")));
}

/// Losses that meet both alike leave windows alike (Mathis et al. 1997), so rates are as 1/round trip: 40 ms
/// against 80, or two thirds.
#[test]
fn reno_at_twice_the_round_trip_gets_half_as_much() {
    let more = "every = \"2 s\"\naccess.delay = \"20 ms\"";
    let plan =
        two("runs = 20\ncongestion = \"reno\"", "delay = \"20 ms\"\nqueue = \"codel\"", FLOW, more);
    let [near, far] = shares(&plan);
    assert!((near / (200.0 / 3.0) - 1.0).abs() < 0.15, "{near} % and {far} %");
}

#[test]
fn the_bytes_of_the_groups_are_those_of_the_link() {
    let workload = "kind = \"bulk\"\nsize = \"2 MB\"";
    let link = "delay = \"10 ms\"\nqueue = \"100 MB\"";
    let plan = two("runs = 1", link, workload, "every = \"1 s\"\ncount = 3");
    let runner = Runner::new(Cancel::default()).with_time_limit(Time::from_millis(60_000));
    let bytes = |cell: usize| {
        let records = runner.events(&plan.cells[cell], 1, 0).unwrap();
        let (mut of_link, mut of_group, mut of_all) = (0, 0, 0);
        for record in &records {
            match &record.event {
                Event::Link { offered_bytes, .. } => of_link += offered_bytes,
                Event::Shared { bytes, bytes_of_all, rates_bps, .. } => {
                    assert_eq!(rates_bps.len(), 4);
                    (of_group, of_all) = (*bytes, *bytes_of_all);
                }
                _ => {}
            }
        }
        // The last acknowledgment of each member may still be under way.
        assert!((of_all..=of_all + 4 * 52).contains(&of_link), "{of_link} and {of_all}");
        (of_group, of_all)
    };
    let ((one, all), (three, same)) = (bytes(0), bytes(1));
    assert_eq!((one + three, all), (all, same));
    assert!(one > 0 && three > one);
}

#[test]
fn groups_without_members_with_a_thousand_and_cut_off_ones_run() {
    let more = "every = \"2 ms\"\ncount = [0, 1000]\nstop = \"3 s\"";
    let plan = two("runs = 1", "delay = \"10 ms\"", "kind = \"flow\"\nduration = \"5 s\"", more);
    let document = document_of(&plan, &run(&plan, 2));
    let [alone, beside, many] = &document.cells[..] else { panic!("{}", document.cells.len()) };
    let goodput = |cell: &CellResult| cell.metrics["goodput_mbps"].mean;
    assert!(goodput(alone) > 16.0 && goodput(beside) < goodput(alone) / 2.0, "{document:?}");
    assert_eq!((beside.failed, many.failed), (0, 0), "{:?}", many.failures);
    let share = many.metrics["traffic_share_percent"].mean;
    assert!(share > 50.0, "{share}");
}

#[test]
fn who_would_begin_after_the_stop_has_no_rate_and_a_pause_is_no_wait_in_a_queue() {
    let (flow, link) = ("kind = \"flow\"\nduration = \"5 s\"", "pause = [[\"1 s\", \"2 s\"]]");
    let plan = two("runs = 1", link, flow, "start = \"3 s\"\nstop = \"2 s\"");
    let metrics = &document_of(&plan, &run(&plan, 2)).cells[0].metrics;
    assert_eq!((metrics["fairness_ratio"].mean, metrics.get("queue_delay_ms")), (1.0, None));
}

const FLOW: &str = "kind = \"flow\"\nduration = \"60 s\"\ninterval = \"1 s\"";
