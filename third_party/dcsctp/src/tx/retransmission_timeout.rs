// Copyright 2025 The dcSCTP Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     https://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

use crate::api::Options;
use std::time::Duration;

const RTO_ALPHA: f64 = 0.125;
const RTO_BETA: f64 = 0.25;

/// A factor that [`RetransmissionTimeout::min_rtt_variance`] will be divided by (before later
/// multiplied with K, which is 4 according to RFC 6298).
///
/// When this value was introduced, it was unintentionally divided by 8 since that code worked with
/// scaled numbers (to avoid floating point math). That behavior is kept as downstream users have
/// measured good values for their use-cases.
const HEURISTIC_VARIANCE_ADJUSTMENT: f64 = 8.0;

pub struct RetransmissionTimeout {
    min_rto: f64,
    max_rto: f64,
    max_rtt: Duration,
    min_rtt_variance: f64,
    first_measurement: bool,
    srtt: f64,
    rtt_var: f64,
    rto: Duration,
}

impl RetransmissionTimeout {
    pub fn new(options: &Options) -> Self {
        Self {
            min_rto: options.rto_min.as_secs_f64(),
            max_rto: options.rto_max.as_secs_f64(),
            max_rtt: options.rtt_max,
            min_rtt_variance: options.min_rtt_variance.as_secs_f64()
                / HEURISTIC_VARIANCE_ADJUSTMENT,
            first_measurement: true,
            srtt: options.rto_initial.as_secs_f64(),
            rtt_var: 0.0,
            rto: options.rto_initial,
        }
    }

    pub fn rto(&self) -> Duration {
        self.rto
    }

    pub fn srtt(&self) -> Duration {
        Duration::from_secs_f64(self.srtt)
    }

    pub fn observe_rto(&mut self, measured_rtt: Duration) {
        // Unrealistic values will be skipped. If a wrongly measured (or otherwise corrupt) value
        // was processed, it could change the state in a way that would take a very long time to
        // recover.
        if measured_rtt > self.max_rtt {
            return;
        }
        let rtt = measured_rtt.as_secs_f64();

        // See <https://datatracker.ietf.org/doc/html/rfc9260#section-6.3.1>.
        if self.first_measurement {
            self.srtt = rtt;
            self.rtt_var = rtt / 2.0;
            self.first_measurement = false;
        } else {
            self.rtt_var = (1.0 - RTO_BETA) * self.rtt_var + RTO_BETA * (self.srtt - rtt).abs();
            self.srtt = (1.0 - RTO_ALPHA) * self.srtt + RTO_ALPHA * rtt;
        }

        if self.rtt_var < self.min_rtt_variance {
            self.rtt_var = self.min_rtt_variance;
        }

        // Clamp RTO between min and max.
        let rto = (self.srtt + 4.0 * self.rtt_var).clamp(self.min_rto, self.max_rto);
        self.rto = Duration::from_secs_f64(rto);
    }
}
