//! The ends of links: hosts with addresses.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use trackbed_substrate::{Entropy, Host};

/// One end of a link: a host with an IPv4 and an IPv6 address. Clones are the same host.
///
/// ```
/// use trackbed_test::{Link, Track};
///
/// let (a, b) = Track::new(1).link(Link::new());
/// assert_eq!(a.address(80).to_string(), "10.0.0.1:80");
/// assert_eq!(b.ipv6().to_string(), "fd00::2");
/// ```
#[derive(Clone)]
pub struct End(Arc<Inner>);

struct Inner {
    name: String,
    addresses: [IpAddr; 2],
    /// Known during the run.
    host: OnceLock<Arc<dyn Host>>,
}

impl End {
    /// The first or second end of the link that is number `link` of its track, from 0.
    pub(crate) fn new(name: String, link: u16, second: bool) -> End {
        let [high, low] = link.to_be_bytes();
        let last = 1 + u8::from(second);
        let v4 = Ipv4Addr::new(10, high, low, last);
        let v6 = Ipv6Addr::new(0xfd00, 0, 0, link, 0, 0, 0, u16::from(last));
        let (addresses, host) = ([v4.into(), v6.into()], OnceLock::new());
        End(Arc::new(Inner { name, addresses, host }))
    }

    /// The name, see [`Link::names`](crate::Link::names).
    ///
    /// ```
    /// let (a, _) = trackbed_test::Track::new(1).link(trackbed_test::Link::new());
    /// assert_eq!(a.name(), "a");
    /// ```
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The IPv4 address.
    ///
    /// ```
    /// let (a, _) = trackbed_test::Track::new(1).link(trackbed_test::Link::new());
    /// assert_eq!(a.ip().to_string(), "10.0.0.1");
    /// ```
    pub fn ip(&self) -> IpAddr {
        self.0.addresses[0]
    }

    /// The IPv6 address.
    ///
    /// ```
    /// let (a, _) = trackbed_test::Track::new(1).link(trackbed_test::Link::new());
    /// assert_eq!(a.ipv6().to_string(), "fd00::1");
    /// ```
    pub fn ipv6(&self) -> IpAddr {
        self.0.addresses[1]
    }

    /// The IPv4 address with a port.
    ///
    /// ```
    /// let (a, _) = trackbed_test::Track::new(1).link(trackbed_test::Link::new());
    /// assert_eq!(a.address(443).to_string(), "10.0.0.1:443");
    /// ```
    pub fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip(), port)
    }

    /// Fills `bytes` with random numbers of this end, which depend on the seed alone.
    ///
    /// # Errors
    /// Outside [`Track::run`](crate::Track::run).
    ///
    /// ```
    /// # use trackbed_test::{Link, Track};
    /// let draw = |seed| {
    ///     let mut track = Track::new(seed);
    ///     let (a, _) = track.link(Link::new());
    ///     let mut bytes = [0; 8];
    ///     track.run(async move { a.fill_random(&mut bytes).map(|()| bytes).unwrap() })
    /// };
    /// assert_eq!(draw(1), draw(1));
    /// assert_ne!(draw(1), draw(2));
    /// ```
    pub fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()> {
        match self.host()?.entropy() {
            Entropy::Seeded(seeded) => seeded.fill(bytes).map_err(io::Error::other),
            _ => Err(outside(self.name())),
        }
    }

    pub(crate) fn addresses(&self) -> [IpAddr; 2] {
        self.0.addresses
    }

    pub(crate) fn is(&self, other: &End) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Called at the start of the run.
    pub(crate) fn enter(&self, host: Arc<dyn Host>) {
        let _ = self.0.host.set(host);
    }

    pub(crate) fn host(&self) -> io::Result<&Arc<dyn Host>> {
        self.0.host.get().ok_or_else(|| outside(self.name()))
    }
}

fn outside(name: &str) -> io::Error {
    let message = format!("the end \"{name}\" has no sockets yet; use it inside Track::run");
    io::Error::new(io::ErrorKind::NotConnected, message)
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "End({}, {}, {})", self.name(), self.ip(), self.ipv6())
    }
}
