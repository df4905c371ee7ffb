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
    """A socket of TCP until it connects, and of TLS then. The suite reads and writes in different threads, which one of
    TLS does not allow, so it has one end of a pair, and a thread carries the bytes between the other end and TLS."""

    def __init__(self, *arguments):
        self.inner = socket.socket(*arguments)

    def connect(self, address):
        self.inner.connect(address)
        secured = CONTEXT.wrap_socket(self.inner)
        self.inner, far = socket.socketpair()
        threading.Thread(target=carry, args=(secured, far), daemon=True).start()

    def send(self, data):
        """What a closed connection does not take is dropped: the broker's last words are still to be read."""
        try:
            return self.inner.send(data)
        except OSError:
            return len(data)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def carry(secured, far):
    with secured, far:
        while True:
            ready = [secured] if secured.pending() else select.select([secured, far], [], [])[0]
            try:
                if far in ready:
                    data = far.recv(65536)
                    secured.settimeout(None)
                    secured.sendall(data)
                    if not data:
                        return
                if secured in ready:
                    secured.settimeout(0)
                    data = secured.recv(65536)
                    far.sendall(data)
                    if not data:
                        return
            except ssl.SSLWantReadError:
                pass
            except OSError:
                return


class Report(unittest.TextTestResult):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.lines = []

    def addSuccess(self, test):
        super().addSuccess(test)
        self.lines.append(f"passed {self.version}: {test._testMethodName}")

    def _failed(self, test, error):
        why = "".join(str(error[1]).splitlines()[:1]) or error[0].__name__
        self.lines.append(f"failed {self.version}: {test._testMethodName}: {why.replace(': ', ' ')}")

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
        chosen = unittest.TestSuite(case for case in cases if case._testMethodName not in OPTIONAL)
        Report.version = version
        lines.extend(unittest.TextTestRunner(resultclass=Report, verbosity=2).run(chosen).lines)

    client = importlib.import_module(f"mqtt.clients.{client}.main")
    client.socket = types.SimpleNamespace(**{**vars(socket), "socket": Secured})
    sys.argv = [script, "--hostname", address, "--port", port]
    unittest.main = run
    runpy.run_path(f"{FOLDER}/{script}", run_name="__main__")
    return lines


def main():
    address, port, report = sys.argv[1:]
    sys.path.insert(0, FOLDER)
    lines = judge("MQTT 3.1.1", "client_test.py", "V311", address, port)
    lines += judge("MQTT 5", "client_test5.py", "V5", address, port)
    with open(report, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
