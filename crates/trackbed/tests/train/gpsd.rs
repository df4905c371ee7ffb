//! A mock gpsd that reports the position of the train to all clients, ten times per second.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_emulator::Clock;
use trackbed_emulator::namespace::NetNamespace;
use trackbed_railway::motion::Ride;

use crate::pause;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Honest,
    /// Positions for this number of milliseconds of the ride; then the connection ends, and the server stops.
    Vanishes(u64),
    /// Positions, and invalid lines.
    Babbles,
}

pub struct Gpsd {
    over: Arc<AtomicBool>,
}

impl Gpsd {
    pub fn start(host: &NetNamespace, ride: &Ride, clock: Clock, behaviour: Behaviour) -> Gpsd {
        let listener = host.run(|| TcpListener::bind("127.0.0.1:2947").unwrap()).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (ride, is_over) = (ride.clone(), Arc::clone(&over));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                // The client may have gone.
                let _ = talk(stream.unwrap(), &ride, clock, behaviour, &is_over);
                if matches!(behaviour, Behaviour::Vanishes(_)) {
                    return;
                }
            }
        });
        Gpsd { over }
    }
}

impl Drop for Gpsd {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn talk(
    mut stream: TcpStream,
    ride: &Ride,
    clock: Clock,
    behaviour: Behaviour,
    is_over: &AtomicBool,
) -> std::io::Result<()> {
    stream.write_all(b"{\"class\":\"VERSION\",\"release\":\"3.22\",\"proto_major\":3}\r\n")?;
    let mut asked = [0; 64];
    assert!(stream.read(&mut asked)? > 0 && asked.starts_with(b"?WATCH="));
    while !is_over.load(Ordering::Relaxed) {
        let now = clock.now();
        if matches!(behaviour, Behaviour::Vanishes(after) if now >= Time::from_millis(after)) {
            return Ok(());
        }
        let (place, speed) = (ride.coordinates(now), ride.speed_m_s(now));
        let (latitude, longitude) = (place.latitude_deg(), place.longitude_deg());
        write!(
            stream,
            "{{\"class\":\"TPV\",\"device\":\"/dev/ttyACM0\",\"mode\":3,\"lat\":{latitude:.9},\
             \"lon\":{longitude:.9},\"speed\":{speed:.3}}}\r\n"
        )?;
        if behaviour == Behaviour::Babbles {
            stream
                .write_all(b"{\"class\":\"TPV\",\"mode\":3,\"lat\":\"no\"}\n\xff\xfe nonsense\n")?;
            stream.write_all(b"{\"class\":\"TPV\",\"mode\":3,\"lat\":89.0,\"lon\":7.0}\n")?;
        }
        pause(Duration::from_millis(100));
    }
    Ok(())
}
