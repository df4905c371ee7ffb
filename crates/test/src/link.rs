//! The description of a link.

use std::time::Duration;

use trackbed_core::{Bitrate, Ratio};
use trackbed_net::LinkSpec;
use trackbed_net::models::{Delay, Duplication, Loss, Rate, Reordering};
use trackbed_net::queue::DropTail;

/// A link between two ends. Its settings hold for both directions, unless [`Link::backward`] sets
/// the second one.
///
/// A new link delivers every packet at once. Give it a delay for transfers of more than some
/// megabytes: a run fails if too much happens at one instant.
///
/// ```
/// use std::time::Duration;
/// use trackbed_test::{Bitrate, Link, Track};
///
/// let link = Link::new().rate(Bitrate::from_mbps(10)).queue(50).delay(Duration::from_millis(20));
/// let (a, b) = Track::new(1).link(link);
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    rate: Option<Bitrate>,
    queue: Option<u64>,
    spec: LinkSpec,
    backward: Option<Box<Link>>,
    names: Option<[String; 2]>,
    pub(crate) mtu: u32,
}

impl Default for Link {
    fn default() -> Link {
        Link::new()
    }
}

impl Link {
    /// A link without delay, limits and losses, with an MTU of 1,500 bytes.
    ///
    /// ```
    /// let (a, b) = trackbed_test::Track::new(1).link(trackbed_test::Link::new());
    /// ```
    pub fn new() -> Link {
        let (rate, queue, backward, names) = (None, None, None, None);
        Link { rate, queue, spec: LinkSpec::new(), backward, names, mtu: 1500 }
    }

    /// Sends at `rate`. Packets wait in a queue meanwhile, see [`Link::queue`].
    ///
    /// # Panics
    /// If `rate` is zero: no packet would ever arrive.
    ///
    /// ```
    /// # use trackbed_test::{Bitrate, Link};
    /// let link = Link::new().rate(Bitrate::from_mbps(10));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn rate(self, rate: Bitrate) -> Link {
        assert!(
            rate.as_bps() > 0,
            "Link::rate: 0 bit/s delivers nothing; give a rate above zero, or none for no limit"
        );
        Link { rate: Some(rate), ..self }
    }

    /// Lets at most `packets` packets wait for the [rate](Link::rate), in place of 100. The packet
    /// that is being sent does not count. Packets that find the queue full are lost.
    ///
    /// ```
    /// # use trackbed_test::{Bitrate, Link};
    /// let link = Link::new().rate(Bitrate::from_mbps(10)).queue(20);
    /// ```
    #[must_use]
    pub fn queue(self, packets: u64) -> Link {
        Link { queue: Some(packets), ..self }
    }

    /// Delays each packet by `delay`, in one direction.
    ///
    /// ```
    /// let link = trackbed_test::Link::new().delay(std::time::Duration::from_millis(20));
    /// ```
    #[must_use]
    pub fn delay(self, delay: Duration) -> Link {
        Link { spec: self.spec.with(Delay::fixed(delay)), ..self }
    }

    /// Loses each packet with the probability `loss`, after the queue.
    ///
    /// ```
    /// # use trackbed_test::{Link, Ratio};
    /// let link = Link::new().loss(Ratio::from_parts(1, 100));
    /// ```
    #[must_use]
    pub fn loss(self, loss: Ratio) -> Link {
        Link { spec: self.spec.with(Loss::bernoulli(loss)), ..self }
    }

    /// Delivers each packet twice with the probability `share`.
    ///
    /// ```
    /// # use trackbed_test::{Link, Ratio};
    /// let link = Link::new().duplication(Ratio::from_parts(1, 100));
    /// ```
    #[must_use]
    pub fn duplication(self, share: Ratio) -> Link {
        Link { spec: self.spec.with(Duplication { probability: share }), ..self }
    }

    /// Delays packets by a further `hold` with the probability `share`, so that later ones overtake
    /// them.
    ///
    /// ```
    /// # use {std::time::Duration, trackbed_test::{Link, Ratio}};
    /// let link = Link::new().reordering(Ratio::from_parts(1, 100), Duration::from_millis(5));
    /// ```
    #[must_use]
    pub fn reordering(self, share: Ratio, hold: Duration) -> Link {
        Link { spec: self.spec.with(Reordering { probability: share, hold }), ..self }
    }

    /// Takes packets of at most `bytes` bytes, IP header included, in both directions. At least
    /// 1,280.
    ///
    /// ```
    /// let link = trackbed_test::Link::new().mtu(1280);
    /// ```
    #[must_use]
    pub fn mtu(self, bytes: u32) -> Link {
        Link { mtu: bytes, ..self }
    }

    /// Uses the rate, queue, delay, loss, duplication and reordering of `other` for the direction
    /// from the second end to the first.
    ///
    /// ```
    /// # use trackbed_test::{Bitrate, Link};
    /// let down = Link::new().rate(Bitrate::from_mbps(50));
    /// let link = Link::new().rate(Bitrate::from_mbps(5)).backward(down);
    /// ```
    #[must_use]
    pub fn backward(self, other: Link) -> Link {
        Link { backward: Some(Box::new(other)), ..self }
    }

    /// Names the ends in errors and captures. Without names they are `a` and `b`, then `a2` and
    /// `b2`.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track};
    /// let (phone, server) = Track::new(1).link(Link::new().names("phone", "server"));
    /// assert_eq!(phone.name(), "phone");
    /// ```
    #[must_use]
    pub fn names(self, first: &str, second: &str) -> Link {
        Link { names: Some([first.to_owned(), second.to_owned()]), ..self }
    }

    /// The names of both ends of the link that is number `number` of its track, from 0.
    pub(crate) fn names_of_ends(&self, number: usize) -> [String; 2] {
        let suffix = if number == 0 { String::new() } else { (number + 1).to_string() };
        self.names.clone().unwrap_or_else(|| ["a", "b"].map(|name| format!("{name}{suffix}")))
    }

    pub(crate) fn directions(&self) -> [LinkSpec; 2] {
        [self.spec(), self.backward.as_deref().unwrap_or(self).spec()]
    }

    fn spec(&self) -> LinkSpec {
        let Some(rate) = self.rate else { return self.spec.clone() };
        let queue = DropTail::of_packets(self.queue.unwrap_or(QUEUE_PACKETS));
        self.spec.clone().with(Rate::new(rate, queue))
    }

    /// What no link can do, if there is such a setting.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match (self.rate, self.queue, &self.backward) {
            (None, Some(_), _) => {
                Some("the queue of a link has no effect without Link::rate; add one")
            }
            (_, _, Some(other)) => other.problem(),
            _ => None,
        }
    }
}

/// The default of a scenario's queue.
const QUEUE_PACKETS: u64 = 100;
