//! The workload's parameters.

use trackbed_core::{Parameter, parameters};

use crate::boards;

pub(super) const PARAMETERS: &[Parameter] = parameters! {
    "load": Choice(&["crossing", "closed"]) = "crossing" =>
        "crossing: vehicles send, whatever happens to their messages (an open loop); closed: all \
         signatures are present at the beginning (a closed loop)";
    "signatures": Count { min: 1 } = "100000" => "with load = \"closed\": number of signatures, up \
                                                  to 1000000";
    "duration": Time = "5 s" => "time during which vehicles send, up to 1 h";
    "warm-up": Time = "1 s" =>
        "first part of the duration, which is not measured: certificates are received for the \
         first time";
    "deadline": Time = "10 ms" => "a verdict later than this after the message's arrival is late";
    "board": Described(boards::NAMES), optional => boards::HELP;
    "workers": Count { min: 1 }, optional =>
        "threads that verify, up to 64; in virtual time each has a core, and more than the board \
         has give no benefit; default: one per core, of a Xeon two";
    "split": Choice(&["dynamic", "static"]) = "dynamic" =>
        "whether all workers take from one queue, earliest deadline first, or each has a fixed \
         share in advance, as OpenMP does by default";
    "slow-half": Number = "1" =>
        "how many times slower the second half of the workers is than the first, from 1 to 100";
    "budget": Share = "100 %" => "maximum share of all cores for verification, from 0.1 %";
    "queue": Count { min: 1 } = "65536" =>
        "with load = \"crossing\": maximum signatures in the queue; messages beyond it are dropped";
    "late": Choice(&["verify", "drop"]) = "verify" =>
        "with load = \"crossing\": what happens to a message whose deadline has passed when its \
         turn comes";
    "certificates": Choice(&["cached", "always"]) = "cached" =>
        "whether a certificate is verified only when new, or on each arrival";
    "tables": Choice(&["lru", "none"]) = "lru" =>
        "which keys get a table of multiples, if the board's verifier has tables: those used last, \
         or none";
    "table-memory": Size = "64 MB" => "memory for tables, with tables = \"lru\"";
    "roads": Count { min: 1 } = "4" => "number of roads that meet, up to 100";
    "lanes": Count { min: 1 } = "8" => "lanes per road, up to 100";
    "spacing": Count { min: 1 } = "30" => "distance between vehicles of a lane, in metres";
    "range": Count { min: 1 } = "300" =>
        "length of each road within range, in metres, up to 10000";
    "speed": Count { min: 1 } = "10" =>
        "speed of vehicles in metres per second, up to 100; a vehicle that leaves the range is \
         replaced by one with another certificate";
    "crossings": Count { min: 1 } = "1" =>
        "number of such crossings received at the same time, over several channels or in a replay; \
         at most 100000 vehicles in all";
    "traffic": File, optional =>
        "virtual time: the vehicles of this file instead of the crossing's: what `sumo --fcd-output` \
         wrote, in metres and not compressed";
    "centre": Counts, optional =>
        "with traffic: x and y of the unit in metres, as [500, 300]; vehicles farther away than \
         `range` are not heard; default: all are heard";
    "certificate-requests": Flag, optional =>
        "with traffic: whether vehicles ask for the certificate of one that comes into range, which then sends it with \
         its next message (TS 103 097 section 7.1.1); default: true";
    "message": Choice(&["bsm", "cam"]) = "bsm" =>
        "message type: basic safety messages (SAE J2735) or cooperative awareness messages (EN 302 \
         637-2)";
    "rate": Frequency = "10 /s" => "message rate of each vehicle, 0.01 /s to 1000 /s";
    "triggered": Flag = "false" =>
        "vehicles send after moving, turning or braking, as in EN 302 637-2, and not at `rate`";
    "jitter": Time = "5 ms" =>
        "maximum delay of a message after its scheduled time; at most the time between two";
    "certificate-every": Time = "1 s" =>
        "how long a vehicle sends only the digest of its certificate before it sends the \
         certificate again";
    "forged": Share = "0 %" => "share of vehicles' messages with a forged signature";
    "flood": Frequency, optional =>
        "rate of additional forgeries from an unknown sender, up to 1000000 /s: received messages \
         with other signatures";
    "pseudonyms": Time, optional =>
        "time between changes of certificates, which all vehicles make at the same time";
    "blockage-every": Time, optional =>
        "time between blockages, in which no message gets through, as behind a large obstacle; \
         messages due then are sent at the end of it";
    "blockage": Time = "200 ms" => "duration of each blockage";
};
