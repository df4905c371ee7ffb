//! Servers among strangers, in virtual time: whoever dawdles, floods or damages, an honest client is
//! answered within a few round trips, and what the server keeps is bounded. The registry says which
//! protocols there are, so a new one is covered too.

mod damage;
mod day;
mod flood;
mod ground;
mod memory;
mod relay;
mod slow;
