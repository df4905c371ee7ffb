//! Proportional rate reduction (RFC 6937bis): the window follows what is delivered.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// RecoverFS: the window when the reduction began, in segments.
    pub prior_cwnd: u32,
    /// prr_delivered: segments delivered since.
    delivered: u32,
    /// prr_out: segments sent since.
    out: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Segments newly delivered.
    pub delivered: u32,
    /// Segments newly found lost.
    pub lost: u32,
    /// The cumulative acknowledgment moved.
    pub advanced: bool,
}

impl Prr {
    pub(crate) fn new(prior_cwnd: u32) -> Prr {
        Prr { prior_cwnd, delivered: 0, out: 0 }
    }

    pub(crate) fn sent(&mut self) {
        self.out += 1;
    }

    /// The window after an acknowledgment, or `None` if it stays.
    pub(crate) fn window(
        &mut self,
        ssthresh: u32,
        in_flight: u32,
        progress: Progress,
    ) -> Option<u32> {
        if progress.delivered == 0 || self.prior_cwnd == 0 {
            return None;
        }
        self.delivered += progress.delivered;
        let out = i64::from(self.out);
        let send = if in_flight > ssthresh {
            // Proportional: ssthresh segments are sent while prior_cwnd are delivered.
            let due = (u64::from(ssthresh) * u64::from(self.delivered))
                .div_ceil(u64::from(self.prior_cwnd));
            due as i64 - out
        } else {
            // Below the target: slow start if the acknowledgment shows progress (SSRB), otherwise
            // packet conservation (CRB).
            let conservation = i64::from(self.delivered) - out;
            let grow = i64::from(progress.advanced && progress.lost == 0);
            let bound = conservation.max(i64::from(progress.delivered)) + grow;
            bound.min(i64::from(ssthresh - in_flight))
        };
        // The first retransmission leaves at once.
        let send = send.max(i64::from(self.out == 0));
        Some((i64::from(in_flight) + send).max(0) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_delivered_is_sent_until_the_target_is_reached() {
        let mut prr = Prr::new(20);
        let mut in_flight = 19;
        let mut sent = 0;
        for _ in 0..19 {
            in_flight -= 1;
            let progress = Progress { delivered: 1, lost: 0, advanced: false };
            let window = prr.window(10, in_flight, progress).unwrap();
            while in_flight < window {
                in_flight += 1;
                sent += 1;
                prr.sent();
            }
        }
        assert_eq!(sent, 10);
        assert_eq!(in_flight, 10);
    }
}
