//! A congestion window, and how it grows.

/// The congestion window and its threshold, in segments as Linux counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many segments may be in flight.
    pub cwnd: u32,
    /// Below this, slow start; [`Window::INFINITE`] before the first loss.
    pub ssthresh: u32,
    /// Acknowledged segments not yet counted in the window.
    credit: u32,
}

impl Window {
    /// The threshold before the first loss (RFC 5681 section 3.1: arbitrarily high).
    pub const INFINITE: u32 = u32::MAX;

    /// A window of `cwnd` segments in its first slow start.
    pub const fn new(cwnd: u32) -> Window {
        Window { cwnd, ssthresh: Window::INFINITE, credit: 0 }
    }

    /// True below the threshold.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by the acknowledged segments, up to the threshold, and returns what is left over: all
    /// of them beyond slow start (RFC 5681 section 3.1 with the byte counting of RFC 3465).
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh.max(self.cwnd));
        let rest = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        rest
    }

    /// Grows by one segment for every `per` acknowledged ones (RFC 5681 section 3.1 with `per` the
    /// window itself).
    pub fn grow(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        // Credit gathered while growth was slower is not paid out at the new, higher price.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per {
            let whole = self.credit / per;
            self.credit -= whole * per;
            self.cwnd += whole;
        }
    }

    /// Drops acknowledged segments not yet counted in the window, at a loss.
    pub fn clear_credit(&mut self) {
        self.credit = 0;
    }
}
