//! Connections that break at random times.

use trackbed_core::Rng;
use trackbed_substrate::spawn;

use crate::support::*;

/// A dialer whose connections are closed after a random time each, whatever is in flight.
pub struct MortalDialer {
    inner: Rc<dyn Dialer>,
    /// The mean lifetime of a connection; lifetimes are exponential.
    life: Duration,
    rng: RefCell<Rng>,
}

impl MortalDialer {
    pub fn around(inner: Rc<dyn Dialer>, life: Duration, rng: Rng) -> Rc<dyn Dialer> {
        Rc::new(MortalDialer { inner, life, rng: RefCell::new(rng) })
    }
}

impl Dialer for MortalDialer {
    fn connect(&self, remote: SocketAddr) -> LocalBoxFuture<'_, Result<Rc<dyn Connection>, Error>> {
        Box::pin(async move {
            let connection = self.inner.connect(remote).await?;
            let life = self.life.mul_f64(self.rng.borrow_mut().exponential());
            let doomed = Rc::downgrade(&connection);
            spawn(async move {
                sleep(life).await;
                if let Some(connection) = doomed.upgrade() {
                    connection.close().await;
                }
            })
            .detach();
            Ok(connection)
        })
    }
}
