//! What a scenario may choose of a congestion controller, and of the packets of QUIC.

use trackbed_core::{Arguments, ByteSize, Ratio};

use super::hystart::HyStart;

/// The values of the keys of [`quic`](crate::parameters::quic).
#[derive(Clone, Debug, Default)]
pub(crate) struct Tuning {
    /// In datagrams.
    pub(super) initial_datagrams: Option<u64>,
    /// The share of the window kept after a loss.
    pub(super) beta: Option<f64>,
    pub(super) hystart: Option<HyStart>,
    /// 0 adapts.
    pub(super) reordering_threshold: u64,
    /// The size of every full datagram; `None` to look for the path's.
    pub(super) datagram: Option<u16>,
}

impl Tuning {
    pub(super) fn of(arguments: &Arguments) -> Tuning {
        let datagram = arguments.get::<ByteSize>("packet-size").filter(|size| size.as_bytes() > 0);
        Tuning {
            initial_datagrams: arguments.get("initial-window"),
            beta: arguments.get::<Ratio>("beta").map(Ratio::as_f64),
            hystart: HyStart::of(arguments.get("hystart")),
            reordering_threshold: arguments.get("reordering-threshold").unwrap_or(3),
            datagram: datagram.and_then(|size| size.as_bytes().try_into().ok()),
        }
    }

    /// The initial window in bytes, where datagrams have `mtu` of them.
    pub(super) fn initial_window(&self, mtu: u16) -> u64 {
        self.initial_datagrams.map_or(INITIAL_WINDOW, |count| count.saturating_mul(mtu.into()))
    }
}

/// Ten datagrams of the least size that QUIC allows (RFC 9002 section 7.2).
pub(super) const INITIAL_WINDOW: u64 = 12_000;

/// What each controller with a window and a slow-start threshold says of them.
macro_rules! of_a_window {
    ($($state:ident .)?) => {
        fn on_mtu_update(&mut self, mtu: u16) {
            self.datagram = mtu.into();
            self.$($state.)?window = self.$($state.)?window.max(self.least_window());
        }

        fn window(&self) -> u64 {
            self.$($state.)?window
        }

        fn metrics(&self) -> ControllerMetrics {
            let mut metrics = ControllerMetrics::default();
            metrics.congestion_window = self.$($state.)?window;
            metrics.ssthresh = Some(self.$($state.)?ssthresh);
            metrics
        }

        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }

        fn initial_window(&self) -> u64 {
            self.initial_window
        }

        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    };
}

pub(super) use of_a_window;
