//! Servers under attack, in virtual time. Attackers are slow, flood the server or damage packets;
//! still an honest client gets its response within a few round trips, and the server's state is
//! bounded. The test runs over all protocols of the registry, including new ones.

mod damage;
mod day;
mod flood;
mod ground;
mod memory;
mod relay;
mod slow;
