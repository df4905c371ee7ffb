//! The loop that accepts, and who goes where there is no room.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::task::Context;

use trackbed_substrate::{Guests, Standing, accept_each, before, yield_now};

use crate::support::run_alone as run;
use crate::support::*;

/// Guests with names, and who is still there.
struct House {
    guests: Guests,
    present: Rc<RefCell<Vec<&'static str>>>,
}

/// A task's entry in the list of guests that are there.
struct Stay<T: PartialEq>(T, Rc<RefCell<Vec<T>>>);

impl<T: PartialEq + Copy> Stay<T> {
    fn begin(name: T, present: &Rc<RefCell<Vec<T>>>) -> Stay<T> {
        present.borrow_mut().push(name);
        Stay(name, Rc::clone(present))
    }
}

impl<T: PartialEq> Drop for Stay<T> {
    fn drop(&mut self) {
        self.1.borrow_mut().retain(|name| *name != self.0);
    }
}

impl House {
    fn of(places: usize) -> House {
        House { guests: Guests::new(places), present: Rc::default() }
    }

    /// A guest comes a millisecond after the one before.
    async fn come(&self, name: &'static str, from: &str) -> Standing {
        sleep(Duration::from_millis(1)).await;
        let standing = Standing::new(from.parse::<IpAddr>().unwrap());
        let stay = Stay::begin(name, &self.present);
        self.guests.admit(standing.clone(), async move {
            let _stay = stay;
            pending::<()>().await;
        });
        standing
    }

    /// Who is there when all who had to go are gone.
    async fn present(&self) -> String {
        yield_now().await;
        self.present.borrow().join(" ")
    }
}

#[test]
fn a_flood_from_one_address_displaces_itself() {
    run(|| async {
        let house = House::of(4);
        house.come("honest", "192.0.2.1").await;
        for name in ["f1", "f2", "f3", "f4", "f5"] {
            // All of one subscriber's 64 bits.
            house.come(name, "2001:db8::bad:1").await;
        }
        assert_eq!(house.present().await, "honest f3 f4 f5");
        assert_eq!(house.guests.count().get(), 4);
    });
}

#[test]
fn who_has_asked_stays_but_for_a_quarter_that_is_for_newcomers() {
    run(|| async {
        let house = House::of(4);
        for name in ["a1", "a2", "a3", "a4"] {
            house.come(name, "192.0.2.1").await.asked();
        }
        // The one that has been silent for longest makes room for the first, which makes room for the others.
        let places = ["n1", "n2", "n3"].map(|name| house.come(name, "192.0.2.1"));
        let mut standings = Vec::new();
        for place in places {
            standings.push(place.await);
        }
        assert_eq!(house.present().await, "a2 a3 a4 n3");
        standings.iter().for_each(Standing::asked);
        assert!(house.guests.relieve(), "one goes where the machine is exhausted");
        assert_eq!(house.present().await, "a3 a4 n3");
        assert_eq!(house.guests.count().exhausted(), 1);
        assert!(!Guests::new(1).relieve(), "there is none");
    });
}

/// A guest: its number, its address, whether it has sent a request, and when it was last active.
type Rule = (u64, usize, bool, u64);

/// The number of the guest that is removed, found by searching all of them.
fn lowest(all: &[Rule]) -> u64 {
    let newcomers = all.iter().filter(|guest| !guest.2).count();
    let spares_newcomers = newcomers < all.len() / 4;
    let rank = |guest: &&Rule| {
        let alike = all.iter().filter(|other| (other.1, other.2) == (guest.1, guest.2)).count();
        (guest.2 != spares_newcomers, std::cmp::Reverse(alike), guest.3, guest.0)
    };
    all.iter().min_by_key(rank).unwrap().0
}

/// Arrivals from five addresses, requests and departures, drawn by chance.
#[test]
fn the_guest_that_goes_is_the_one_that_a_look_at_all_finds() {
    const PLACES: usize = 40;
    run(|| async {
        let guests = Guests::new(PLACES);
        let mut draws = fastrand::Rng::with_seed(7);
        let mut all: Vec<(Rule, Standing)> = Vec::new();
        let present = Rc::default();
        for number in 0..4_000 {
            sleep(Duration::from_millis(1)).await;
            let at = now().as_nanos();
            for _ in 0..draws.usize(0..4) {
                let place = draws.usize(0..all.len().max(1));
                if let Some((guest, standing)) = all.get_mut(place) {
                    standing.asked();
                    (guest.2, guest.3) = (true, at);
                }
            }
            if all.len() == PLACES {
                let rules: Vec<Rule> = all.iter().map(|(guest, _)| *guest).collect();
                let gone = lowest(&rules);
                all.retain(|(guest, _)| guest.0 != gone);
            }
            let source = draws.usize(0..5);
            let standing = Standing::new(IpAddr::from([192, 0, 2, source as u8]));
            let (stay, leaves) = (Stay::begin(number, &present), draws.usize(0..8) == 0);
            guests.admit(standing.clone(), async move {
                let _stay = stay;
                if !leaves {
                    pending::<()>().await;
                }
            });
            if !leaves {
                all.push(((number, source, false, at), standing));
            }
            yield_now().await;
            let expected: Vec<u64> = all.iter().map(|(guest, _)| guest.0).collect();
            assert_eq!(*present.borrow(), expected, "after {number} arrivals");
        }
    });
}

/// A look at all of 16,384 for each of 20,000 arrivals takes minutes; this takes less than a second. Guests
/// from one address each are the worst for what is kept by address.
#[cfg(target_os = "linux")]
#[test]
fn arrivals_at_a_full_house_are_cheap() {
    run(|| async {
        let guests = Guests::new(16_384);
        let come = |number: u32| {
            let standing = Standing::new(IpAddr::from(number.to_be_bytes()));
            guests.admit(standing.clone(), pending());
            standing
        };
        let full: Vec<Standing> = (0..16_384).map(come).collect();
        full.iter().step_by(2).for_each(Standing::asked);
        yield_now().await;
        let begin = processor();
        for number in 0..20_000 {
            come(1_000_000 + number);
            yield_now().await;
        }
        let took = processor() - begin;
        println!("20,000 arrivals: {took:?}");
        assert!(took < Duration::from_secs(15), "{took:?}");
        assert_eq!(guests.count().get(), 16_384);
    });
}

#[cfg(target_os = "linux")]
fn processor() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// A listener of an exhausted machine: each answer is an error of accept(2), or a long wait.
struct Exhausted(Mutex<VecDeque<i32>>);

impl TcpListener for Exhausted {
    fn local_addr(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 1))
    }

    fn poll_accept(&self, _: &mut Context<'_>) -> Poll<io::Result<Box<dyn TcpStream>>> {
        match self.0.lock().unwrap().pop_front() {
            Some(number) => Poll::Ready(Err(io::Error::from_raw_os_error(number))),
            None => Poll::Pending,
        }
    }
}

/// EMFILE, ENFILE, ENOBUFS, ENOMEM: the loop goes on, after a pause unless one has made room.
#[test]
fn an_exhausted_machine_does_not_end_the_loop() {
    const ERRORS: [i32; 4] = [24, 23, 105, 12];
    let tried = |makes_room: bool| {
        run(move || async move {
            let listener = Exhausted(Mutex::new(ERRORS.into()));
            let (seen, last) = (RefCell::new(Vec::new()), Cell::new(Time::ZERO));
            let refused = |why: &io::Error| {
                seen.borrow_mut().extend(why.raw_os_error());
                last.set(now());
                makes_room
            };
            let taking = accept_each(&listener, |_| {}, refused);
            assert!(before(now() + Duration::from_secs(9), taking).await.is_none());
            assert_eq!(*seen.borrow(), ERRORS);
            last.get()
        })
    };
    assert_eq!(tried(false), Time::from_millis(300));
    assert_eq!(tried(true), Time::from_millis(200));
}
