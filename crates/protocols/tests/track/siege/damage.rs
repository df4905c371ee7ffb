//! Altered bytes in every part of a client's traffic.

use super::ground::{Witness, for_each_protocol};
use super::relay::{Manner, Then, attacker};
use crate::support::*;

#[test]
fn invalid_clients_do_no_harm() {
    for_each_protocol(|ground| async move {
        let witness = Witness::new(&ground).await;
        let wholes: &[usize] = match ground.is_over_tcp() {
            true => &[0, 5, 100, 270, 350, 400, 500, 1_000, 2_500],
            false => &[0, 1, 2, 3, 4, 6],
        };
        let mut attackers = Vec::new();
        let mut port = 10_000;
        for one_in in [2, 30, 300] {
            for &whole in wholes {
                let manner = Manner { whole, then: Then::Damage(one_in) };
                attackers.push(attacker(&ground, port, manner));
                port += 1;
            }
        }
        witness.check("at once").await;
        sleep(Duration::from_secs(1)).await;
        witness.check("a second later").await;
        witness.check_memory("a second later", 512_000 * attackers.len() as isize);
        sleep(Duration::from_secs(20)).await;
        witness.check("after a while").await;
        drop(attackers);
        sleep(Duration::from_secs(20)).await;
        witness.check("afterwards").await;
    });
}
