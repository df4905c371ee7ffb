//! When a vehicle sends a CAM (EN 302 637-2 v1.4.1 section 6.1.3).

use std::time::Duration;

use trackbed_core::Time;

use crate::location::Position;

/// The movement of a vehicle, for triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dynamics {
    /// Its position.
    pub position: Position,
    /// Its heading in tenths of a degree.
    pub heading_ddeg: u16,
    /// Its speed in cm/s.
    pub speed_cm_s: u16,
}

/// A CAM is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Whether the low-frequency container is due too.
    pub low_frequency: bool,
}

/// The state of a vehicle's CAM generation. Call it every 100 ms (`T_CheckCamGen`), or more often.
#[derive(Clone, Debug)]
pub struct CamTrigger {
    /// The limit of congestion control (`T_GenCam_DCC`).
    spacing_min: Duration,
    /// The interval without changes (`T_GenCam`).
    interval: Duration,
    /// How often in a row that interval was the trigger (of `N_GenCam`).
    repeats: u32,
    last: Option<(Time, Dynamics)>,
    last_low_frequency: Option<Time>,
}

const INTERVAL_MIN: Duration = Duration::from_millis(100);
const INTERVAL_MAX: Duration = Duration::from_secs(1);
const LOW_FREQUENCY: Duration = Duration::from_millis(500);
const REPEATS_MAX: u32 = 3;
const HEADING_DDEG: u16 = 40;
const DISTANCE_M: f64 = 4.0;
const SPEED_CM_S: u16 = 50;

impl CamTrigger {
    /// A state without sent CAMs. `spacing_min` is the limit of congestion control (`T_GenCam_DCC`,
    /// TS 102 687), clamped to 100 ms to 1 s.
    pub fn new(spacing_min: Duration) -> CamTrigger {
        CamTrigger {
            spacing_min: spacing_min.clamp(INTERVAL_MIN, INTERVAL_MAX),
            interval: INTERVAL_MAX,
            repeats: 0,
            last: None,
            last_low_frequency: None,
        }
    }

    /// Whether a CAM is due now; if so, it counts as sent.
    pub fn check(&mut self, now: Time, dynamics: &Dynamics) -> Option<Due> {
        if let Some((at, before)) = &self.last {
            let elapsed = now.since(*at);
            if elapsed < self.spacing_min {
                return None;
            }
            if has_changed(before, dynamics) {
                self.interval = elapsed.clamp(INTERVAL_MIN, INTERVAL_MAX);
                self.repeats = 0;
            } else if elapsed >= self.interval {
                self.repeats += 1;
                if self.repeats >= REPEATS_MAX {
                    self.interval = INTERVAL_MAX;
                }
            } else {
                return None;
            }
        }
        self.last = Some((now, *dynamics));
        let low_frequency = self.last_low_frequency.is_none_or(|at| now.since(at) >= LOW_FREQUENCY);
        if low_frequency {
            self.last_low_frequency = Some(now);
        }
        Some(Due { low_frequency })
    }
}

/// By more than 4 degrees, 4 m or 0.5 m/s.
fn has_changed(before: &Dynamics, now: &Dynamics) -> bool {
    let turn = before.heading_ddeg.abs_diff(now.heading_ddeg) % 3_600;
    turn.min(3_600 - turn) > HEADING_DDEG
        || before.speed_cm_s.abs_diff(now.speed_cm_s) > SPEED_CM_S
        || before.position.distance_m(&now.position) > DISTANCE_M
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times, in steps of 100 ms, at which CAMs are due over this many steps.
    fn due(steps: u64, dynamics: impl Fn(u64) -> Dynamics) -> Vec<(u64, bool)> {
        let mut trigger = CamTrigger::new(Duration::ZERO);
        (0..steps)
            .filter_map(|step| {
                let due = trigger.check(Time::from_millis(step * 100), &dynamics(step))?;
                Some((step, due.low_frequency))
            })
            .collect()
    }

    const STANDING: Dynamics = Dynamics {
        position: Position { latitude: 0, longitude: 0 },
        heading_ddeg: 0,
        speed_cm_s: 0,
    };

    fn driving(speed_m_s: f64) -> impl Fn(u64) -> Dynamics {
        move |step| Dynamics {
            position: STANDING.position.moved_m(speed_m_s * step as f64 / 10.0, 0.0),
            ..STANDING
        }
    }

    #[test]
    fn who_stands_sends_once_a_second() {
        let steps: Vec<u64> = due(41, |_| STANDING).iter().map(|(step, _)| *step).collect();
        assert_eq!(steps, [0, 10, 20, 30, 40]);
    }

    #[test]
    fn who_drives_sends_every_four_metres() {
        // 13.9 m/s (50 km/h) is 4.17 m in 300 ms; 50 m/s is 5 m in 100 ms.
        let sent = due(13, driving(13.9));
        assert_eq!(sent, [(0, true), (3, false), (6, true), (9, false), (12, true)]);
        assert_eq!(due(5, driving(50.0)).len(), 5);
    }

    #[test]
    fn turns_and_brakes_are_told_at_once_and_the_interval_goes_back_after_three() {
        // A turn of 4.1 degrees over north after 500 ms, then nothing more: three CAMs at that
        // interval, and once a second from then on.
        let turning = |it| Dynamics { heading_ddeg: if it < 5 { 3_580 } else { 21 }, ..STANDING };
        let steps: Vec<u64> = due(45, turning).iter().map(|(step, _)| *step).collect();
        assert_eq!(steps, [0, 5, 10, 15, 20, 30, 40]);
        let braking = |it| Dynamics { speed_cm_s: if it < 2 { 1_000 } else { 949 }, ..STANDING };
        assert_eq!(due(4, braking), [(0, true), (2, false)]);
        let hardly = |step| Dynamics { speed_cm_s: if step < 2 { 1_000 } else { 950 }, ..STANDING };
        assert_eq!(due(4, hardly), [(0, true)]);
    }

    #[test]
    fn congestion_control_has_the_last_word() {
        let mut trigger = CamTrigger::new(Duration::from_millis(600));
        let fast = driving(50.0);
        let sent = (0..19)
            .filter(|step| trigger.check(Time::from_millis(step * 100), &fast(*step)).is_some());
        assert_eq!(sent.collect::<Vec<u64>>(), [0, 6, 12, 18]);
    }
}
