//! The processor time of both ends, which only real runs take.

use std::time::Duration;

use trackbed_measure::agreement::{Agreement, AgreementVerdict, WithComputing};
use trackbed_measure::results::RunResult;

/// Processor time for each packet that an end sends or receives, as if all of them took the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computing {
    /// On the machine of the phones.
    pub client: Duration,
    /// On that of the server.
    pub server: Duration,
}

impl Computing {
    /// What programs took in these emulated runs, divided by the packets of the links; `None` if it was not
    /// measured. A packet that was lost cost only its sender time.
    pub fn measured(emulated: &[RunResult]) -> Option<Computing> {
        let of_run = |run: &RunResult| {
            let samples = run.outcome.samples()?;
            let of = |name| Some(samples.get(name)?.iter().sum::<f64>());
            let packets = run.certificate.as_ref()?.packets;
            Some((packets as f64, of("client_cpu_ms")?, of("server_cpu_ms")?))
        };
        let sums = emulated.iter().filter(|run| !run.is_invalid()).filter_map(of_run);
        let (packets, client, server) =
            sums.fold((0.0, 0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1, sum.2 + run.2));
        let each = |ms: f64| Duration::try_from_secs_f64(ms / 1e3 / packets).ok();
        Some(Computing { client: each(client)?, server: each(server)? })
    }
}

/// What was found without processor time in virtual time, completed by what was found `again` with it.
pub fn complete(found: &mut [Agreement], computing: Computing, again: &[Agreement]) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    for row in found.iter_mut().filter(|row| row.verdict != AgreementVerdict::Equivalent) {
        let same = |again: &&Agreement| (again.cell, &again.metric) == (row.cell, &row.metric);
        let Some(again) = again.iter().find(same) else { continue };
        row.with_computing = Some(WithComputing {
            client_us: micros(computing.client),
            server_us: micros(computing.server),
            virtually: again.virtually,
            pairs: again.pairs,
            ratio: again.ratio,
            ci90: again.ci90,
            verdict: again.verdict,
            pairs_to_decide: again.pairs_to_decide,
        });
        if again.verdict == AgreementVerdict::Equivalent {
            row.verdict = AgreementVerdict::EquivalentWithComputing;
        }
        row.pairs_to_decide = match row.verdict {
            AgreementVerdict::Undecided => row.soonest(),
            _ => None,
        };
    }
}
