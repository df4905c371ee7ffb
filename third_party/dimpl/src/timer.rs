use std::time::{Duration, Instant};

use crate::{Config, SeededRng, TimeoutError};

// RFC 6347 section 4.2.4.1, RFC 9147 section 5.8.2: the first timer lasts one second.
const JITTER_RANGE: f32 = 0.0;
const IDLE_INTERVAL: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

pub struct HandshakeTimers {
    handshake_timeout: Duration,
    handshake: Timeout,
    flight: Timeout,
    backoff: ExponentialBackoff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timeout {
    Disabled,
    Unarmed,
    Armed(Instant),
}

pub struct ExponentialBackoff {
    start_rto: Duration,
    retries: usize,
    rto: Duration,
    jitter: f32,
    left: usize,
}

impl HandshakeTimers {
    pub fn new(config: &Config, rng: &mut SeededRng) -> Self {
        Self {
            handshake_timeout: config.handshake_timeout(),
            handshake: Timeout::Unarmed,
            flight: Timeout::Disabled,
            backoff: ExponentialBackoff::new(
                config.flight_start_rto(),
                config.flight_retries(),
                rng,
            ),
        }
    }

    pub fn start_handshake(&mut self, now: Instant) {
        if self.handshake == Timeout::Unarmed {
            self.handshake = Timeout::Armed(deadline(now, self.handshake_timeout));
        }
    }

    pub fn handshake_deadline(&self) -> Timeout {
        self.handshake
    }

    pub fn set_handshake_deadline(&mut self, timeout: Timeout) {
        self.handshake = timeout;
    }

    pub fn begin_flight(&mut self, rng: &mut SeededRng) {
        self.backoff.reset(rng);
        self.flight = Timeout::Unarmed;
    }

    pub fn flight_sent(&mut self, now: Instant) {
        if self.flight == Timeout::Unarmed {
            self.flight = Timeout::Armed(deadline(now, self.backoff.rto()));
        }
    }

    pub fn stop_flight(&mut self) {
        self.flight = Timeout::Disabled;
    }

    pub fn finish_handshake(&mut self) {
        self.handshake = Timeout::Disabled;
    }

    pub fn stop(&mut self) {
        self.finish_handshake();
        self.stop_flight();
    }

    pub fn rto(&self) -> Duration {
        self.backoff.rto()
    }

    /// Reserve a retry for a saved flight. Emission arms its next timeout.
    ///
    /// After the handshake finishes, resending the final flight in answer to
    /// peer retransmissions ignores the remaining budget (RFC 6347 §4.2.4).
    pub fn request_resend(&mut self, rng: &mut SeededRng) -> bool {
        let final_flight = self.handshake == Timeout::Disabled && self.flight == Timeout::Disabled;
        if self.flight == Timeout::Unarmed || !(final_flight || self.backoff.can_retry()) {
            return false;
        }
        self.backoff.attempt(rng);
        if matches!(self.flight, Timeout::Armed(_)) {
            self.flight = Timeout::Unarmed;
        }
        true
    }

    pub fn handle_timeout(
        &mut self,
        now: Instant,
        rng: &mut SeededRng,
    ) -> Result<bool, TimeoutError> {
        if let Timeout::Armed(timeout) = self.handshake
            && now >= timeout
        {
            return Err(TimeoutError::Connect);
        }
        if let Timeout::Armed(timeout) = self.flight
            && now >= timeout
        {
            if !self.request_resend(rng) {
                return Err(TimeoutError::Handshake);
            }
            return Ok(true);
        }
        Ok(false)
    }

    pub fn poll_timeout(&self, now: Instant) -> Instant {
        match (self.handshake, self.flight) {
            (Timeout::Armed(connect), Timeout::Armed(flight)) => connect.min(flight),
            (Timeout::Armed(timeout), _) | (_, Timeout::Armed(timeout)) => timeout,
            _ => deadline(now, IDLE_INTERVAL),
        }
    }
}

impl ExponentialBackoff {
    pub fn new(start_rto: Duration, retries: usize, rng: &mut SeededRng) -> Self {
        Self {
            start_rto,
            retries,
            rto: start_rto,
            jitter: Self::jitter(rng),
            left: retries,
        }
    }

    pub fn reset(&mut self, rng: &mut SeededRng) {
        self.rto = self.start_rto;
        self.jitter = Self::jitter(rng);
        self.left = self.retries;
    }

    pub fn rto(&self) -> Duration {
        let jitter = self.rto.mul_f64(f64::from(self.jitter.abs()));
        if self.jitter < 0.0 {
            self.rto.saturating_sub(jitter)
        } else {
            self.rto.saturating_add(jitter)
        }
        .max(Duration::from_nanos(1))
    }

    fn jitter(rng: &mut SeededRng) -> f32 {
        rng.random::<f32>() * JITTER_RANGE - (JITTER_RANGE / 2.0)
    }

    pub fn attempt(&mut self, rng: &mut SeededRng) {
        let (n, overflow) = self.left.overflowing_sub(1);

        if overflow {
            return;
        }

        self.left = n;
        self.jitter = Self::jitter(rng);
        self.rto = self.rto.saturating_mul(2);
    }

    pub fn can_retry(&self) -> bool {
        self.left > 0
    }
}

/// Add a logical delay, reducing unrepresentable intervals until they fit.
pub fn deadline(now: Instant, mut delay: Duration) -> Instant {
    loop {
        if let Some(deadline) = now.checked_add(delay) {
            return deadline;
        }
        delay /= 2;
    }
}
