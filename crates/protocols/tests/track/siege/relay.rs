//! Correct clients behind a relay that forwards only a part of the traffic: so a valid exchange of
//! every protocol stops, drips or breaks at any chosen place.

use std::future::pending;

use futures_util::future::join;
use trackbed_substrate::Task;

use super::ground::{ATTACKERS, Ground, SERVER};
use crate::support::*;

/// What happens to a client's traffic.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// This many bytes over TCP, or datagrams, pass unchanged.
    pub whole: usize,
    pub then: Then,
}

/// What happens to the rest.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// Nothing of it arrives.
    Silence,
    /// A byte, or a datagram, every three seconds.
    Drip,
    /// About one byte in `0` is another one.
    Damage(u64),
}

/// A client that connects and sends a body of 3,000 bytes through a relay on port `port`. It is there
/// until what this returns is dropped.
pub fn attacker(ground: &Rc<Ground>, port: u16, manner: Manner) -> [Task<()>; 2] {
    let rng = ground.seed.stream(&format!("test/relay/{port}"));
    let front = SocketAddr::new(ATTACKERS, port);
    let relay = if ground.is_over_tcp() {
        spawn(over_tcp(Rc::clone(ground), front, manner, rng))
    } else {
        spawn(over_udp(Rc::clone(ground), front, manner, rng))
    };
    let dialer = ground.dialer(&ground.dupe);
    let client = spawn(async move {
        let connection = talk(&*dialer, front).await;
        // Whatever came of it, it stays.
        let _connection = connection;
        pending::<()>().await;
    });
    [relay, client]
}

async fn talk(dialer: &dyn Dialer, front: SocketAddr) -> Option<Rc<dyn Connection>> {
    let connection = dialer.connect(front).await.ok()?;
    let request = Request::new("/echo", body::full(vec![1; 3_000]));
    if let Ok(response) = connection.exchange(request).await {
        let _either_way = body::drain(response.body).await;
    }
    Some(connection)
}

async fn over_tcp(ground: Rc<Ground>, front: SocketAddr, manner: Manner, mut rng: Rng) {
    let options = TcpOptions::default();
    let listener = ground.attacker.listen_tcp(front, &options).unwrap();
    let Ok(client) = listener.accept().await else { return };
    let Ok(server) = ground.attacker.connect_tcp(None, SERVER, &options).await else { return };
    let (mut heard, mut client) = client.split();
    let (mut answered, mut server) = server.split();
    let up = async {
        let mut left = manner.whole;
        let mut buffer = [0; 4_096];
        while let Ok(len @ 1..) = heard.read(&mut buffer).await {
            let (whole, rest) = buffer[..len].split_at_mut(len.min(left));
            left -= whole.len();
            if server.write_all(whole).await.is_err() || server.flush().await.is_err() {
                break;
            }
            if rest.is_empty() {
                continue;
            }
            match manner.then {
                Then::Silence => break,
                Then::Drip => {
                    for byte in rest {
                        sleep(DRIP).await;
                        let _either_way = server.write_all(&[*byte]).await;
                        let _either_way = server.flush().await;
                    }
                }
                Then::Damage(one_in) => {
                    damage(rest, one_in, &mut rng);
                    let _either_way = server.write_all(rest).await;
                    let _either_way = server.flush().await;
                }
            }
        }
        pending::<()>().await;
    };
    let down = async {
        let _either_way = futures_util::io::copy(&mut answered, &mut client).await;
    };
    join(up, down).await;
}

async fn over_udp(ground: Rc<Ground>, front: SocketAddr, manner: Manner, mut rng: Rng) {
    let socket = ground.attacker.bind_udp(front).unwrap();
    let back = SocketAddr::new(ATTACKERS, front.port() + BACK);
    let upstream = ground.attacker.bind_udp(back).unwrap();
    let client = RefCell::new(None);
    let up = async {
        let mut left = manner.whole;
        loop {
            let (from, mut payload) = hear(&*socket).await;
            client.replace(Some(from));
            if left > 0 {
                left -= 1;
            } else {
                match manner.then {
                    Then::Silence => continue,
                    Then::Drip => sleep(DRIP).await,
                    Then::Damage(one_in) => damage(&mut payload, one_in, &mut rng),
                }
            }
            say(&*upstream, SERVER, &payload).await;
        }
    };
    let down = async {
        loop {
            let (_, payload) = hear(&*upstream).await;
            let to = *client.borrow();
            if let Some(to) = to {
                say(&*socket, to, &payload).await;
            }
        }
    };
    join(up, down).await;
}

fn damage(bytes: &mut [u8], one_in: u64, rng: &mut Rng) {
    for byte in bytes {
        if rng.below(one_in) == 0 {
            *byte = rng.next_u64() as u8;
        }
    }
}

const DRIP: Duration = Duration::from_secs(3);
/// How far the ports are apart that a relay over UDP has.
const BACK: u16 = 20_000;
