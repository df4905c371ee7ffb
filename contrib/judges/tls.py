#!/opt/trackbed-stacks/bin/python3
"""Judges a TLS 1.3 server with an RSA certificate by scripts of tlsfuzzer (github.com/tlsfuzzer/tlsfuzzer), which
speak HTTP/1.1.

    tls.py ADDRESS PORT REPORT

writes a line for each case: "passed NAME", or "failed NAME: what happened". A case is all conversations of a script
whose names differ only in numbers. The suite is in /opt/trackbed-tlsfuzzer.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

FOLDER = "/opt/trackbed-tlsfuzzer"
# The scripts, with options. They offer an extension that the server knows with content that it cannot have, unless
# told to leave it out.
KNOWN = "".join(f" --exc {number}" for number in (11, 19, 20, 23, 27, 35, 44, 49, 57, 58, 64768, 65037, 65281))
SCRIPTS = [
    "0rtt-garbage",
    "ccs",
    "conversation",
    "count-tickets",
    "crfg-curves",
    "ecdhe-curves",
    "empty-alert",
    "finished",
    "finished-plaintext",
    "hrr",
    "invalid-ciphers",
    "keyshare-omitted",
    "keyupdate --coalescing",
    "large-number-of-extensions" + KNOWN,
    "legacy-version",
    "multiple-ccs-messages",
    "no-unknown-groups --groups x25519,secp256r1,x25519mlkem768,secp256r1mlkem768",
    "nociphers",
    "pkcs-signature",
    "record-layer-limits",
    "record-padding",
    "session-resumption",
    "shuffled-extentions" + KNOWN,
    "signature-algorithms",
    "symetric-ciphers",
    "unencrypted-alert",
    "unrecognised-groups",
    "zero-content-type",
    "zero-length-data",
]
# Conversations about groups, ciphers, a version and a mode of resumption that the server does not have.
FOREIGN = re.compile("x448|secp384r1|secp521r1|ffdhe|CCM|1[.]2|PSK_ONLY")


def play(address, port, row):
    """The cases of a script, each with what was wrong."""
    script, *options = row.split()
    command = [sys.executable, f"{FOLDER}/scripts/test-tls13-{script}.py", "-h", address, "-p", port, "-n", "0"]
    ended = subprocess.run(command + options, capture_output=True, text=True)
    cases = {}
    for conversation in re.split(r"(?m)^(?=.* \.\.\.$)", ended.stdout)[1:]:
        name, _, said = conversation.partition(" ...\n")
        if not FOREIGN.search(name):
            case = script + ": " + re.sub(r"\d+", "N", name)
            wrong = None if re.search("(?m)^OK$", said) else why(said)
            cases[case] = cases.get(case) or wrong
    if "\nTest end\n" not in ended.stdout:
        cases[script] = (ended.stderr.strip().splitlines() or ["it did not reach its end"])[-1].replace(": ", " ")
    return cases


def why(said):
    """The last line of a traceback, without the name of the exception if it says more."""
    lines = [line for line in said.splitlines() if re.match(r"[\w.]+(: .|$)", line)]
    return re.sub(r"^[\w.]+: ", "", (lines or ["it ended without a reason"])[-1]).replace(": ", " ")


def main():
    address, port, report = sys.argv[1:]
    if not os.path.isdir(FOLDER):
        sys.exit(f"the suite is not in {FOLDER}: sh contrib/stacks/install.sh tlsfuzzer")
    with concurrent.futures.ThreadPoolExecutor(4) as pool, open(report, "w") as file:
        for cases in pool.map(lambda row: play(address, port, row), SCRIPTS):
            for name, wrong in cases.items():
                print(f"failed {name}: {wrong}" if wrong else f"passed {name}", file=file)


if __name__ == "__main__":
    main()
