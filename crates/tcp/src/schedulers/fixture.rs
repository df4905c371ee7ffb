//! States of a connection that the tests of schedulers make up.

use std::time::Duration;

use trackbed_core::parameter::{Arguments, Value};
use trackbed_core::{Seed, Time};

use super::{Action, Backlog, Outstanding, PathId, PathView, Scheduler, SchedulingAlgorithm, View};

/// Payload of a segment in these tests.
pub const MSS: u32 = 1_000;

/// A connection with plenty to send and a wide window.
#[derive(Debug)]
pub struct Scene {
    pub now: Time,
    pub paths: Vec<PathView>,
    pub unsent_bytes: u64,
    pub next_offset: u64,
    pub una_offset: u64,
    pub window_room_bytes: u64,
    pub send_buffer_full: bool,
    pub out: Out,
}

/// Data in flight, with all paths that carried it.
#[derive(Debug, Default)]
pub struct Out(pub Vec<(Outstanding, Vec<PathId>)>);

impl Scene {
    pub fn new(paths: Vec<PathView>) -> Scene {
        Scene {
            now: Time::from_millis(1_000),
            paths,
            unsent_bytes: 1 << 30,
            next_offset: 0,
            una_offset: 0,
            window_room_bytes: 1 << 30,
            send_buffer_full: false,
            out: Out::default(),
        }
    }

    pub fn view(&self) -> View<'_> {
        View {
            now: self.now,
            paths: &self.paths,
            unsent_bytes: self.unsent_bytes,
            next_offset: self.next_offset,
            una_offset: self.una_offset,
            window_room_bytes: self.window_room_bytes,
            send_buffer_full: self.send_buffer_full,
            backlog: &self.out,
        }
    }

    /// A segment of new data was given to `path` now.
    pub fn sent(&mut self, path: u32) {
        let start = self.next_offset;
        self.next_offset += u64::from(MSS);
        let (end, path) = (self.next_offset, PathId(path));
        let data = Outstanding { start, end, sent_at: self.now, path, repeats: 0 };
        self.out.0.push((data, vec![path]));
    }

    /// Carries out what a scheduler wants, with segments that stay queued.
    pub fn apply(&mut self, action: Action) {
        match action {
            Action::Send { path, bytes } => {
                for _ in 0..bytes.div_ceil(MSS) {
                    self.sent(path.0);
                    self.queue(path);
                }
            }
            Action::Repeat { path, from, until } => {
                for (data, paths) in &mut self.out.0 {
                    if data.start < until && from < data.end {
                        data.repeats += 1;
                        (data.path, data.sent_at) = (path, self.now);
                        paths.push(path);
                    }
                }
                self.queue(path);
            }
            Action::Penalise { path, cwnd_segments, ssthresh_segments } => {
                let path = self.paths.iter_mut().find(|view| view.id == path).unwrap();
                path.cwnd_segments = cwnd_segments;
                path.ssthresh_segments = ssthresh_segments;
            }
            Action::Wait { .. } => {}
        }
    }

    /// The scheduler's next decision, carried out.
    pub fn step(&mut self, scheduler: &mut dyn Scheduler) -> Action {
        let action = scheduler.next(&self.view());
        self.apply(action);
        action
    }

    /// The scheduler's decisions until it waits, each carried out.
    pub fn run(&mut self, scheduler: &mut dyn Scheduler) -> Vec<Action> {
        let mut done = Vec::new();
        loop {
            let action = self.step(scheduler);
            if matches!(action, Action::Wait { .. }) {
                return done;
            }
            done.push(action);
            assert!(done.len() < 10_000, "it never waits");
        }
    }

    fn queue(&mut self, path: PathId) {
        let path = self.paths.iter_mut().find(|view| view.id == path).unwrap();
        path.queued_bytes += MSS;
        path.room_bytes = path.room_bytes.saturating_sub(MSS);
    }
}

impl Backlog for Out {
    fn at(&self, offset: u64) -> Option<Outstanding> {
        self.0.iter().map(|(data, _)| *data).find(|data| data.end > offset)
    }

    fn was_sent_on(&self, offset: u64, path: PathId) -> bool {
        let covers = |data: &Outstanding| data.start <= offset && offset < data.end;
        self.0.iter().any(|(data, paths)| covers(data) && paths.contains(&path))
    }
}

/// A path in its first slow start, with an empty window of ten segments.
pub fn path(id: u32, srtt_ms: u64) -> PathView {
    PathView {
        id: PathId(id),
        established: true,
        srtt: Duration::from_millis(srtt_ms),
        latest_rtt: Duration::from_millis(srtt_ms),
        cwnd_segments: 10,
        ssthresh_segments: u32::MAX,
        room_bytes: 1 << 20,
        mss_bytes: MSS,
        ..PathView::default()
    }
}

/// The same with a full window.
pub fn full(id: u32, srtt_ms: u64) -> PathView {
    let path = path(id, srtt_ms);
    PathView { in_flight_segments: path.cwnd_segments, ..path }
}

/// A segment on the path of this number.
pub fn segment(path: u32) -> Action {
    Action::Send { path: PathId(path), bytes: MSS }
}

/// A copy of the segment that begins at `from`.
pub fn copy(path: u32, from: u64) -> Action {
    Action::Repeat { path: PathId(path), from, until: from + u64::from(MSS) }
}

/// A scheduler with `given` parameters.
pub fn build(entry: &SchedulingAlgorithm, given: &[(&str, Value)]) -> Box<dyn Scheduler> {
    let arguments = Arguments::read(entry.parameters, given).expect("the entry knows them");
    (entry.build)(&arguments, &Seed::of_run(1, 0))
}
