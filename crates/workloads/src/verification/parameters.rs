//! What a scenario may set.

use trackbed_core::{Parameter, parameters};

use crate::boards;

pub(super) const PARAMETERS: &[Parameter] = parameters! {
    "load": Choice(&["crossing", "closed"]) = "crossing" =>
        "vehicles that send, whatever becomes of their messages (an open loop), or signatures \
         that all are there at the beginning (a closed loop)";
    "signatures": Count { min: 1 } = "100000" => "with load = \"closed\", how many, up to 1000000";
    "duration": Time = "5 s" => "how long vehicles send, up to 1 h";
    "warm-up": Time = "1 s" =>
        "the first part of the duration, which is not measured: certificates are heard for the \
         first time";
    "deadline": Time = "10 ms" => "a verdict later than this after the message came is late";
    "board": Choice(boards::NAMES) = "here" => boards::HELP;
    "workers": Count { min: 1 }, optional =>
        "threads that verify, up to 64; in virtual time each has a core, and more than the board \
         has gain nothing; without it as many as there are cores, of a Xeon two";
    "split": Choice(&["dynamic", "static"]) = "dynamic" =>
        "all workers take from one queue, what is due first, or each has its share beforehand, as \
         OpenMP does by default";
    "slow-half": Number = "1" =>
        "how many times slower the second half of the workers is than the first, from 1 to 100";
    "budget": Share = "100 %" => "what verification may take of all cores, from 0.1 % on";
    "queue": Count { min: 1 } = "65536" =>
        "with load = \"crossing\", signatures that wait, at most; messages beyond are dropped";
    "late": Choice(&["verify", "drop"]) = "verify" =>
        "with load = \"crossing\", what becomes of a message whose deadline has passed when it is \
         its turn";
    "certificates": Choice(&["cached", "always"]) = "cached" =>
        "whether a certificate is verified when it is new, or each time it comes";
    "tables": Choice(&["lru", "none"]) = "lru" =>
        "which keys get a table of multiples, where the board's verifier has any: those used \
         last, or none";
    "table-memory": Size = "64 MB" => "memory that tables may take, with tables = \"lru\"";
    "roads": Count { min: 1 } = "4" => "roads that meet, up to 100";
    "lanes": Count { min: 1 } = "8" => "lanes of each road, up to 100";
    "spacing": Count { min: 1 } = "30" => "metres from one vehicle of a lane to the next";
    "range": Count { min: 1 } = "300" =>
        "metres of each road from which messages are heard, up to 10000";
    "speed": Count { min: 1 } = "10" =>
        "metres that vehicles go in a second, up to 100; whoever leaves the range is followed by \
         another, with another certificate";
    "crossings": Count { min: 1 } = "1" =>
        "how many such crossings are heard at once: by several channels, or in a replay; vehicles \
         are at most 100000 in all";
    "message": Choice(&["bsm", "cam"]) = "bsm" =>
        "what vehicles send: basic safety messages (SAE J2735) or cooperative awareness messages \
         (EN 302 637-2)";
    "rate": Frequency = "10 /s" => "how many messages each vehicle sends, 0.01 /s to 1000 /s";
    "triggered": Flag = "false" =>
        "vehicles send when they have moved, turned or braked, as EN 302 637-2 says, and not at \
         `rate`";
    "jitter": Time = "5 ms" =>
        "by how much a message is behind its turn, at most; no more than the time between two";
    "certificate-every": Time = "1 s" =>
        "how long a vehicle sends the digest of its certificate alone before the certificate is \
         due again";
    "forged": Share = "0 %" => "messages of vehicles whose signature somebody has made up";
    "flood": Frequency, optional =>
        "forgeries that a stranger sends besides, up to 1000000 /s: messages that were heard, \
         with other signatures";
    "pseudonyms": Time, optional =>
        "how often all vehicles change their certificates, at the same time";
    "blockage-every": Time, optional =>
        "from one time in which nobody can send to the next, as when something large is in the \
         way; what was to be said is said at its end";
    "blockage": Time = "200 ms" => "how long each of them lasts";
};
