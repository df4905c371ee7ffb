//! Sources of positions: gpsd, or a receiver that speaks NMEA 0183. Each is read on a separate thread, which
//! reconnects when the source is lost.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use trackbed_railway::motion::NmeaReader;

use crate::phad::gpsd::{Fix, Lines, Nonsense, Report, WATCH};

/// A source of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// gpsd at this host and port.
    Gpsd(String),
    /// NMEA sentences from a serial line, a named pipe or a file. The speed of a serial line must already be
    /// set (stty(1)).
    Nmea(PathBuf),
}

/// Messages from a source.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// A position.
    Fix(Fix),
    /// The source works, but has no position.
    NoFix,
    /// The source is connected.
    Connected,
    /// The source is lost, and why. It is tried again after a while.
    Gone(String),
}

impl Source {
    /// Reads the source on a separate thread, until `tell` returns false because its receiver is gone.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn follow(self, tell: impl FnMut(News) -> bool + Send + 'static) -> io::Result<()> {
        let thread = thread::Builder::new().name("positions".to_owned());
        thread.spawn(move || self.read_for_ever(tell)).map(drop)
    }

    fn read_for_ever(self, mut tell: impl FnMut(News) -> bool) {
        let mut pause = PAUSE_MIN;
        loop {
            let mut had_fix = false;
            let mut note = |news: News| {
                had_fix |= matches!(news, News::Fix(_));
                tell(news)
            };
            let why = match &self {
                Source::Gpsd(address) => read_gpsd(address, &mut note),
                Source::Nmea(path) => read_nmea(path, &mut note),
            };
            let Err(why) = why else { return };
            if !tell(News::Gone(format!("{self}: {why}"))) {
                return;
            }
            // A source that worked may be back soon; one that never did is tried less and less often.
            pause = if had_fix { PAUSE_MIN } else { pause };
            thread::park_timeout(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Gpsd(address) => write!(f, "gpsd at {address}"),
            Source::Nmea(path) => write!(f, "NMEA from {}", path.display()),
        }
    }
}

/// Reads until `tell` returns false.
///
/// # Errors
/// If the connection fails.
fn read_gpsd(address: &str, tell: &mut dyn FnMut(News) -> bool) -> io::Result<()> {
    let mut stream = connect(address)?;
    stream.set_read_timeout(Some(SILENCE_MAX))?;
    stream.write_all(WATCH)?;
    if !tell(News::Connected) {
        return Ok(());
    }
    read_lines(&mut stream, |line| match Report::parse(line) {
        Ok(Report::Fix(fix)) => Ok(tell(News::Fix(fix))),
        Ok(Report::NoFix) => Ok(tell(News::NoFix)),
        Ok(Report::Error(why)) => Err(Nonsense(format!("gpsd reports: {why}"))),
        Ok(Report::Other) => Ok(true),
        Err(why) => Err(why),
    })
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(stream) => return Ok(stream),
            Err(why) => last = why,
        }
    }
    Err(last)
}

fn read_nmea(path: &Path, tell: &mut dyn FnMut(News) -> bool) -> io::Result<()> {
    let mut file = File::open(path)?;
    if !tell(News::Connected) {
        return Ok(());
    }
    let mut reader = NmeaReader::default();
    read_lines(&mut file, |line| match reader.read(&String::from_utf8_lossy(line)) {
        Ok(Some(sample)) => {
            let (coordinates, speed_m_s) = (sample.coordinates, sample.speed_m_s);
            Ok(tell(News::Fix(Fix { coordinates, speed_m_s })))
        }
        Ok(None) => Ok(true),
        Err(why) => Err(Nonsense(why.to_string())),
    })
}

/// Reads lines until `tell` returns false. Single invalid lines are ignored, because the first line is often
/// incomplete. A source that sends only invalid lines is abandoned.
fn read_lines(
    source: &mut dyn Read,
    mut take: impl FnMut(&[u8]) -> Result<bool, Nonsense>,
) -> io::Result<()> {
    let mut lines = Lines::default();
    let mut nonsense = 0;
    let mut buffer = [0; 4_096];
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the connection was closed",
                ));
            }
            Ok(count) => count,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                let message = format!("no data for {} s", SILENCE_MAX.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(why) => return Err(why),
        };
        for line in lines.feed(&buffer[..count]) {
            match take(&line) {
                Ok(true) => nonsense = 0,
                Ok(false) => return Ok(()),
                Err(why) => {
                    nonsense += 1;
                    if nonsense >= NONSENSE_MAX {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, why.to_string()));
                    }
                }
            }
        }
    }
}

/// The initial wait before a source is tried again; it grows each time.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The time limit for connecting to gpsd.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// The time limit without data: gpsd reports a position, or that it has none, every second.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// After this number of consecutive invalid lines, a source is closed and tried again.
const NONSENSE_MAX: u32 = 20;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc;

    use super::*;

    const TPV: &str = "{\"class\":\"TPV\",\"mode\":3,\"lat\":1.0,\"lon\":2.0,\"speed\":3.0}\n";

    /// Sends `texts` to one client after the other; each must first request positions.
    fn gpsd(texts: Vec<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            for text in texts {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(b"{\"class\":\"VERSION\",\"release\":\"3.22\"}\n").unwrap();
                let mut asked = vec![0; WATCH.len()];
                stream.read_exact(&mut asked).unwrap();
                assert_eq!(asked, WATCH);
                // A client that received too many invalid lines closes the connection.
                let _ = stream.write_all(text.as_bytes());
            }
        });
        address
    }

    fn hear(source: Source, count: usize) -> Vec<News> {
        let (sender, receiver) = mpsc::channel();
        source.follow(move |news| sender.send(news).is_ok()).unwrap();
        let patience = Duration::from_secs(30);
        (0..count).map(|_| receiver.recv_timeout(patience).unwrap()).collect()
    }

    #[test]
    fn gpsd_that_vanishes_or_babbles_is_tried_again() {
        let texts = vec![TPV.repeat(2), "nonsense\n".repeat(30), format!("nonsense\n{TPV}")];
        let news = hear(Source::Gpsd(gpsd(texts)), 8);
        let kinds: Vec<&str> = news
            .iter()
            .map(|news| match news {
                News::Fix(fix) => {
                    assert_eq!(fix.speed_m_s, Some(3.0));
                    "fix"
                }
                News::NoFix => "no fix",
                News::Connected => "connected",
                News::Gone(_) => "gone",
            })
            .collect();
        let expected = ["connected", "fix", "fix", "gone", "connected", "gone", "connected", "fix"];
        assert_eq!(kinds, expected);
        let News::Gone(why) = &news[5] else { panic!() };
        assert!(why.contains("not a line from gpsd") && why.starts_with("gpsd at 127.0.0.1:"));
    }

    #[test]
    fn a_source_that_is_not_there_says_so() {
        let news = hear(Source::Gpsd("127.0.0.1:1".to_owned()), 1);
        assert!(matches!(&news[0], News::Gone(why) if why.contains("refused")), "{news:?}");
        let news = hear(Source::Nmea("/nowhere".into()), 1);
        assert!(matches!(&news[0], News::Gone(why) if why.contains("/nowhere")), "{news:?}");
    }

    /// The sentence is the one of Wikipedia's article on NMEA 0183.
    #[test]
    fn sentences_are_read_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nmea");
        let sentence = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n";
        std::fs::write(&path, format!("38,N,01131\r\n{sentence}")).unwrap();
        let news = hear(Source::Nmea(path), 3);
        let News::Fix(fix) = &news[1] else { panic!("{news:?}") };
        // 48 degrees and 7.038 minutes; a knot is 1,852 m per hour.
        assert!((fix.coordinates.latitude_deg() - 48.1173).abs() < 1e-6);
        assert!((fix.speed_m_s.unwrap() - 22.4 * 1852.0 / 3600.0).abs() < 1e-3);
        assert!(matches!(news[2], News::Gone(_)));
    }
}
