//! What a scenario may set.

use trackbed_core::Parameter;
use trackbed_core::parameter::Kind;

use crate::boards;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::with_default(
        "load",
        Kind::Choice(&["crossing", "closed"]),
        "crossing",
        "vehicles that send, whatever becomes of their messages (an open loop), or signatures that all \
         are there at the beginning (a closed loop)",
    ),
    Parameter::with_default(
        "signatures",
        Kind::Count { min: 1 },
        "100000",
        "with load = \"closed\", how many, up to 1000000",
    ),
    Parameter::with_default("duration", Kind::Time, "5 s", "how long vehicles send, up to 1 h"),
    Parameter::with_default(
        "warm-up",
        Kind::Time,
        "1 s",
        "the first part of the duration, which is not measured: certificates are heard for the first \
         time",
    ),
    Parameter::with_default(
        "deadline",
        Kind::Time,
        "10 ms",
        "a verdict later than this after the message came is late",
    ),
    Parameter::with_default("board", Kind::Choice(boards::NAMES), "here", boards::HELP),
    Parameter::optional(
        "workers",
        Kind::Count { min: 1 },
        "threads that verify, up to 64; in virtual time each has a core, and more than the board has \
         gain nothing; without it as many as there are cores, of a Xeon two",
    ),
    Parameter::with_default(
        "split",
        Kind::Choice(&["dynamic", "static"]),
        "dynamic",
        "all workers take from one queue, what is due first, or each has its share beforehand, as \
         OpenMP does by default",
    ),
    Parameter::with_default(
        "slow-half",
        Kind::Number,
        "1",
        "how many times slower the second half of the workers is than the first, from 1 to 100",
    ),
    Parameter::with_default(
        "budget",
        Kind::Share,
        "100 %",
        "what verification may take of all cores, from 0.1 % on",
    ),
    Parameter::with_default(
        "queue",
        Kind::Count { min: 1 },
        "65536",
        "with load = \"crossing\", signatures that wait, at most; messages beyond are dropped",
    ),
    Parameter::with_default(
        "late",
        Kind::Choice(&["verify", "drop"]),
        "verify",
        "with load = \"crossing\", what becomes of a message whose deadline has passed when it is its turn",
    ),
    Parameter::with_default(
        "certificates",
        Kind::Choice(&["cached", "always"]),
        "cached",
        "whether a certificate is verified when it is new, or each time it comes",
    ),
    Parameter::with_default(
        "tables",
        Kind::Choice(&["lru", "none"]),
        "lru",
        "which keys get a table of multiples, where the board's verifier has any: those used last, or \
         none",
    ),
    Parameter::with_default(
        "table-memory",
        Kind::Size,
        "64 MB",
        "memory that tables may take, with tables = \"lru\"",
    ),
    Parameter::with_default("roads", Kind::Count { min: 1 }, "4", "roads that meet, up to 100"),
    Parameter::with_default("lanes", Kind::Count { min: 1 }, "8", "lanes of each road, up to 100"),
    Parameter::with_default(
        "spacing",
        Kind::Count { min: 1 },
        "30",
        "metres from one vehicle of a lane to the next",
    ),
    Parameter::with_default(
        "range",
        Kind::Count { min: 1 },
        "300",
        "metres of each road from which messages are heard, up to 10000",
    ),
    Parameter::with_default(
        "speed",
        Kind::Count { min: 1 },
        "10",
        "metres that vehicles go in a second, up to 100; whoever leaves the range is followed by \
         another, with another certificate",
    ),
    Parameter::with_default(
        "crossings",
        Kind::Count { min: 1 },
        "1",
        "how many such crossings are heard at once: by several channels, or in a replay; vehicles are \
         at most 100000 in all",
    ),
    Parameter::with_default(
        "message",
        Kind::Choice(&["bsm", "cam"]),
        "bsm",
        "what vehicles send: basic safety messages (SAE J2735) or cooperative awareness messages (EN 302 \
         637-2)",
    ),
    Parameter::with_default(
        "rate",
        Kind::Frequency,
        "10 /s",
        "how many messages each vehicle sends, 0.01 /s to 1000 /s",
    ),
    Parameter::with_default(
        "triggered",
        Kind::Flag,
        "false",
        "vehicles send when they have moved, turned or braked, as EN 302 637-2 says, and not at `rate`",
    ),
    Parameter::with_default(
        "jitter",
        Kind::Time,
        "5 ms",
        "by how much a message is behind its turn, at most; no more than the time between two",
    ),
    Parameter::with_default(
        "certificate-every",
        Kind::Time,
        "1 s",
        "how long a vehicle sends the digest of its certificate alone before the certificate is due \
         again",
    ),
    Parameter::with_default(
        "forged",
        Kind::Share,
        "0 %",
        "messages of vehicles whose signature somebody has made up",
    ),
    Parameter::optional(
        "flood",
        Kind::Frequency,
        "forgeries that a stranger sends besides, up to 1000000 /s: messages that were heard, with \
         other signatures",
    ),
    Parameter::optional(
        "pseudonyms",
        Kind::Time,
        "how often all vehicles change their certificates, at the same time",
    ),
    Parameter::optional(
        "blockage-every",
        Kind::Time,
        "from one time in which nobody can send to the next, as when something large is in the way; \
         what was to be said is said at its end",
    ),
    Parameter::with_default("blockage", Kind::Time, "200 ms", "how long each of them lasts"),
];
