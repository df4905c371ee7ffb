#!/usr/bin/env python3
"""Judges an MQTT broker by Eclipse Paho's suite (github.com/eclipse-paho/paho.mqtt.testing), over TLS.

    paho.py ADDRESS PORT REPORT

writes a line for each case: "passed NAME", or "failed NAME: what happened". The suite is in TRACKBED_PAHO, or in
/opt/trackbed-paho. Its clients know TCP only, and get sockets that begin TLS when they connect.
"""

import importlib
import os
import runpy
import select
import socket
import ssl
import sys
import threading
import types
import unittest

FOLDER = os.environ.get("TRACKBED_PAHO", "/opt/trackbed-paho") + "/interoperability"
# What a broker need not have: the suite asks for three of these by option; the others expect a broker that prescribes
# its keep-alive, and one that uses aliases of topics itself.
OPTIONAL = {
    "test_zero_length_clientid",
    "test_subscribe_failure",
    "test_dollar_topics",
    "test_server_keep_alive",
    "test_server_topic_alias",
}
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CONTEXT.check_hostname = False
CONTEXT.verify_mode = ssl.CERT_NONE


class Secured:
    """A socket of TCP until it connects, and of TLS then.

    The suite reads and writes in different threads, which TLS does not allow, so it reads from one end of a pair, to
    which a thread carries what TLS has received.
    """

    def __init__(self, *arguments):
        self.inner = socket.socket(*arguments)
        self.secured = None
        self.lock = threading.Lock()

    def connect(self, address):
        self.inner.connect(address)
        self.secured = CONTEXT.wrap_socket(self.inner)
        self.secured.setblocking(False)
        self.inner, far = socket.socketpair()
        threading.Thread(target=self._carry, args=(far,), daemon=True).start()

    def send(self, data):
        """What a closed connection does not take is dropped: the broker's last words are still to be read."""
        sent = 0
        while sent < len(data):
            try:
                with self.lock:
                    sent += self.secured.send(data[sent:])
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                select.select([], [self.secured], [], 0.1)
            except OSError:
                break
        return len(data)

    def _carry(self, far):
        with self.secured, far:
            data = b"?"
            while data:
                select.select([self.secured], [], [])
                try:
                    with self.lock:
                        data = self.secured.recv(65536)
                        while self.secured.pending():
                            data += self.secured.recv(65536)
                    far.sendall(data)
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    pass
                except OSError:
                    return

    def shutdown(self, how):
        self.secured.shutdown(how)

    def close(self):
        try:
            self.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            pass
        self.inner.close()

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Report(unittest.TextTestResult):
    """Notes why each case failed; None if it passed."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.ended = {}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.ended[test] = None

    def _failed(self, test, error):
        why = "".join(str(error[1]).splitlines()[:1]) or error[0].__name__
        self.ended[test] = why.replace(": ", " ")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failed(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._failed(test, error)


def judge(version, script, client, address, port):
    """The suite's script ends with a call of unittest.main, in whose place the cases are chosen."""
    lines = []

    def run():
        cases = unittest.defaultTestLoader.loadTestsFromTestCase(sys._getframe(1).f_globals["Test"])
        chosen = [case for case in cases if case._testMethodName not in OPTIONAL]
        ended = {}
        # What one client sends may arrive after what another one sends later, so a case has three tries.
        for _ in range(3):
            again = unittest.TestSuite(case for case in chosen if ended.get(case, "not run"))
            if again.countTestCases():
                runner = unittest.TextTestRunner(resultclass=Report, verbosity=2)
                ended.update(runner.run(again).ended)
        for case in chosen:
            name = f"{version}: {case._testMethodName}"
            lines.append(f"failed {name}: {ended[case]}" if ended[case] else f"passed {name}")

    client = importlib.import_module(f"mqtt.clients.{client}.main")
    client.socket = types.SimpleNamespace(**{**vars(socket), "socket": Secured})
    sys.argv = [script, "--hostname", address, "--port", port]
    unittest.main = run
    runpy.run_path(f"{FOLDER}/{script}", run_name="__main__")
    return lines


def main():
    address, port, report = sys.argv[1:]
    if not os.path.isdir(FOLDER):
        sys.exit(f"the suite is not in {FOLDER}: sh contrib/stacks/install.sh paho")
    sys.path.insert(0, FOLDER)
    lines = judge("MQTT 3.1.1", "client_test.py", "V311", address, port)
    lines += judge("MQTT 5", "client_test5.py", "V5", address, port)
    with open(report, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
