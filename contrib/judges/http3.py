#!/opt/trackbed-stacks/bin/python3
"""Judges an HTTP/3 server by what RFC 9000, 9114 and 9204 demand of it when a client breaks a rule.

    http3.py ADDRESS PORT REPORT

writes a line for each case: "passed NAME", or "failed NAME: what happened". aioquic is the client.
"""

import asyncio
import ssl
import sys

import pylsqpack
from aioquic.asyncio import client as aioquic_client
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.buffer import Buffer, encode_uint_var as varint
from aioquic.quic import configuration, events
from aioquic.quic.connection import QuicConnection

# RFC 9000, section 20.1
FLOW_CONTROL, STREAM_LIMIT, STREAM_STATE, FINAL_SIZE, FRAME_ENCODING, PARAMETER, PROTOCOL = (
    0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0xA,
)
UNEXPECTED_MESSAGE, MISSING_EXTENSION, NO_ALPN = 0x10A + 0, 0x100 + 109, 0x100 + 120
# RFC 9114, section 8.1, and RFC 9204, section 6
(CREATION, CRITICAL, UNEXPECTED, FRAME, ID, SETTINGS, MISSING_SETTINGS, MESSAGE) = (
    0x103, 0x104, 0x105, 0x106, 0x108, 0x109, 0x10A, 0x10E,
)
DECOMPRESSION, ENCODER, DECODER = 0x200, 0x201, 0x202
GREASE = varint(0x1F * 17 + 0x21)


def frame(kind, payload=b""):
    return varint(kind) + varint(len(payload)) + payload


def prefixed(value, bits, first):
    """An integer of QPACK."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = bytearray([first | most]), value - most
    while value >= 128:
        out.append(128 | value % 128)
        value //= 128
    return bytes(out) + bytes([value])


def headers(*fields):
    """A HEADERS frame whose fields are literals."""
    block = b"\0\0"
    for name, value in fields:
        block += prefixed(len(name), 3, 0x20) + name + prefixed(len(value), 7, 0) + value
    return frame(1, block)


# The server reads the body of a message before it answers, so it sees every frame.
METHOD, SCHEME, PATH, HOST = (
    (b":method", b"POST"), (b":scheme", b"https"), (b":path", b"/messages/0/0"), (b":authority", b"server.test"),
)
POST = headers(METHOD, SCHEME, PATH, HOST)
DATA = frame(0, b"text")
NO_SETTINGS = frame(4)


def setting(*pairs):
    return frame(4, b"".join(varint(value) for value in pairs))


class Connection(QuicConnection):
    """A connection that sends what it is told."""

    raw = ()
    parameters = b""
    has_source = True

    def _write_connection_limits(self, builder, space):
        super()._write_connection_limits(builder, space)
        raw, self.raw = self.raw, ()
        for kind, payload in raw:
            builder.start_frame(kind, capacity=8 + len(payload)).push_bytes(payload)

    def _serialize_transport_parameters(self):
        if not self.has_source:
            self._local_initial_source_connection_id = None
        return super()._serialize_transport_parameters() + self.parameters


class Client(QuicConnectionProtocol):
    """Remembers how the server reacts."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.answers = {}
        self.wanted, self.reactions = (), []
        self.done = asyncio.Event()
        self.decoder = pylsqpack.Decoder(0, 0)

    def react(self, what):
        """Several reactions may come: a response, and then the end of the connection."""
        self.reactions.append(what)
        if what[0] == "closed" or what[1] in self.wanted:
            self.done.set()

    def quic_event_received(self, event):
        if isinstance(event, events.ConnectionTerminated):
            self.react(("closed", event.error_code))
        elif isinstance(event, (events.StreamReset, events.StopSendingReceived)):
            self.react(("reset", event.error_code))
        elif isinstance(event, events.StreamDataReceived) and event.stream_id % 4 == 0:
            data = self.answers[event.stream_id] = self.answers.get(event.stream_id, b"") + event.data
            if event.end_stream:
                self.react(("status", self.status(event.stream_id, data)))

    def status(self, stream, data):
        buffer = Buffer(data=data)
        while not buffer.eof():
            kind, size = buffer.pull_uint_var(), buffer.pull_uint_var()
            payload = buffer.pull_bytes(size)
            if kind == 1:
                _, fields = self.decoder.feed_header(stream, payload)
                return int(dict(fields)[b":status"])
        return 0


def web(*streams):
    """Sends `streams`: their bytes, and whether they end. Bytes that begin with a type go to a stream of one
    direction."""

    def act(quic):
        for one_way, data, end in streams:
            quic.send_stream_data(quic.get_next_available_stream_id(is_unidirectional=one_way), data, end)

    return act


def request(*parts, end=True):
    return web((True, b"\0" + NO_SETTINGS, False), (False, b"".join(parts), end))


def control(*parts, end=False):
    return web((True, b"\0" + b"".join(parts), end), (False, POST + DATA, True))


def one_way(*datas, end=False):
    streams = [(True, data, end and data is datas[-1]) for data in datas]
    return web((True, b"\0" + NO_SETTINGS, False), *streams)


def raw(kind, *payload):
    def act(quic):
        quic.raw = [(kind, b"".join(varint(p) if isinstance(p, int) else p for p in payload))]
        quic.send_ping(1)

    return act


def both(first, then):
    """`then` after the server has seen `first`."""

    def act(quic):
        first(quic)
        return then

    return act


def parameter(number, value):
    return varint(number) + varint(len(value)) + value


# An answer: the content of the message may be refused.
OK = {200, 400}
# RFC 9114, section 4.1.2: the stream's error.
BAD = {MESSAGE}

CASES = [
    # RFC 9114, section 4.1 and 7.2: frames on the stream of a request.
    ("DATA before HEADERS", {UNEXPECTED}, request(DATA)),
    ("DATA after the trailers", {UNEXPECTED}, request(POST, DATA, headers((b"a", b"b")), DATA)),
    ("a third HEADERS", {UNEXPECTED}, request(POST, DATA, headers((b"a", b"b")), headers((b"a", b"b")))),
    *[
        (f"{name} on a request's stream", {UNEXPECTED}, request(POST, DATA, frame(kind, b"" if kind == 4 else b"\0")))
        for name, kind in [
            ("CANCEL_PUSH", 3), ("SETTINGS", 4), ("PUSH_PROMISE", 5), ("GOAWAY", 7), ("MAX_PUSH_ID", 13),
            ("HTTP/2's PRIORITY", 2), ("HTTP/2's PING", 6), ("HTTP/2's WINDOW_UPDATE", 8),
            ("HTTP/2's CONTINUATION", 9),
        ]
    ],
    ("a request that ends within a frame", {FRAME, MESSAGE}, request(POST, b"\0\x09text")),
    ("a request that ends within HEADERS", {FRAME}, request(POST[:-4])),
    # Section 6.2 and 7.2: the control stream.
    ("no SETTINGS at first", {MISSING_SETTINGS}, control(frame(13, b"\0"))),
    ("SETTINGS twice", {UNEXPECTED}, control(NO_SETTINGS, NO_SETTINGS)),
    ("DATA on the control stream", {UNEXPECTED}, control(NO_SETTINGS, DATA)),
    ("HEADERS on the control stream", {UNEXPECTED}, control(NO_SETTINGS, POST)),
    ("PUSH_PROMISE on the control stream", {UNEXPECTED}, control(NO_SETTINGS, frame(5, b"\0\0\0"))),
    *[
        (f"HTTP/2's {name} on the control stream", {UNEXPECTED}, control(NO_SETTINGS, frame(kind, b"\0")))
        for name, kind in [("PRIORITY", 2), ("PING", 6), ("WINDOW_UPDATE", 8), ("CONTINUATION", 9)]
    ],
    *[
        (f"HTTP/2's setting {number}", {SETTINGS}, control(setting(number, 1))) for number in [2, 3, 4, 5]
    ],
    ("a setting twice", {SETTINGS}, control(setting(6, 1000, 6, 2000))),
    ("a cut setting", {FRAME, SETTINGS}, control(frame(4, b"\x06"))),
    ("an empty MAX_PUSH_ID", {FRAME}, control(NO_SETTINGS, frame(13))),
    ("a long MAX_PUSH_ID", {FRAME}, control(NO_SETTINGS, frame(13, b"\0\0"))),
    ("a long GOAWAY", {FRAME}, control(NO_SETTINGS, frame(7, b"\0\0"))),
    ("a smaller MAX_PUSH_ID", {ID}, control(NO_SETTINGS, frame(13, b"\x05"), frame(13, b"\x04"))),
    ("CANCEL_PUSH of no promise", {ID}, control(NO_SETTINGS, frame(3, b"\x05"))),
    ("a larger GOAWAY", {ID}, control(NO_SETTINGS, frame(7, b"\x01"), frame(7, b"\x02"))),
    ("the control stream's end", {CRITICAL}, control(NO_SETTINGS, end=True)),
    ("a second control stream", {CREATION}, one_way(b"\0" + NO_SETTINGS)),
    ("a push stream of the client", {CREATION}, one_way(b"\x01\0")),
    ("a second encoder stream", {CREATION}, one_way(b"\x02", b"\x02")),
    ("a second decoder stream", {CREATION}, one_way(b"\x03", b"\x03")),
    ("the encoder stream's end", {CRITICAL}, one_way(b"\x02", end=True)),
    ("the decoder stream's end", {CRITICAL}, one_way(b"\x03", end=True)),
    # Section 4.2 to 4.4: malformed requests.
    *[
        (f"a request {name}", BAD, request(headers(*fields), DATA))
        for name, fields in [
            ("without :method", (SCHEME, PATH, HOST)),
            ("without :scheme", (METHOD, PATH, HOST)),
            ("without :path", (METHOD, SCHEME, HOST)),
            ("without :authority and host", (METHOD, SCHEME, PATH)),
            ("with an empty :path", (METHOD, SCHEME, (b":path", b""), HOST)),
            ("with :method twice", (METHOD, METHOD, SCHEME, PATH, HOST)),
            ("with :path twice", (METHOD, SCHEME, PATH, PATH, HOST)),
            ("with :status", (METHOD, SCHEME, PATH, HOST, (b":status", b"200"))),
            ("with an unknown pseudo-header", (METHOD, SCHEME, PATH, HOST, (b":x", b"y"))),
            ("with a pseudo-header after a header", (METHOD, SCHEME, HOST, (b"a", b"b"), PATH)),
            ("with an upper-case name", (METHOD, SCHEME, PATH, HOST, (b"Upper", b"x"))),
            ("with a blank in a name", (METHOD, SCHEME, PATH, HOST, (b"a b", b"x"))),
            ("with a line's end in a value", (METHOD, SCHEME, PATH, HOST, (b"a", b"x\r\ny"))),
            ("with connection", (METHOD, SCHEME, PATH, HOST, (b"connection", b"close"))),
            ("with transfer-encoding", (METHOD, SCHEME, PATH, HOST, (b"transfer-encoding", b"chunked"))),
            ("with te: gzip", (METHOD, SCHEME, PATH, HOST, (b"te", b"gzip"))),
            ("with another host", (METHOD, SCHEME, PATH, HOST, (b"host", b"other.test"))),
        ]
    ],
    (
        "a body shorter than content-length",
        BAD,
        request(headers(METHOD, SCHEME, PATH, HOST, (b"content-length", b"9")), DATA),
    ),
    (
        "a body longer than content-length",
        BAD,
        request(headers(METHOD, SCHEME, PATH, HOST, (b"content-length", b"2")), DATA),
    ),
    ("a pseudo-header in the trailers", BAD, request(POST, DATA, headers((b":path", b"/")))),
    # RFC 9204
    ("an index beyond QPACK's table", {DECOMPRESSION}, request(frame(1, b"\0\0\xff\x40"))),
    ("a dynamic entry without a table", {DECOMPRESSION}, request(frame(1, b"\x02\0\x80"))),
    ("a cut literal", {DECOMPRESSION}, request(frame(1, b"\0\0\x27\x05ab"))),
    ("a dynamic table above the limit", {ENCODER}, one_way(b"\x02" + prefixed(1 << 20, 5, 0x20))),
    ("an insertion without a table", {ENCODER}, one_way(b"\x02\x41a\x01b")),
    ("an increment of zero", {DECODER}, one_way(b"\x03\0")),
    ("an acknowledgment of no section", {DECODER}, one_way(b"\x03\x84")),
    # RFC 9114, section 9: what is unknown must not disturb.
    ("an unknown frame of a request", OK, request(GREASE + b"\x02xx", POST, GREASE + b"\0", DATA)),
    ("an unknown frame of the control stream", OK, control(NO_SETTINGS, GREASE + b"\x01x")),
    ("an unknown setting", OK, control(frame(4, GREASE + b"\x07"))),
    (
        "an unknown stream", OK,
        web((True, b"\0" + NO_SETTINGS, False), (True, GREASE + b"junk", False), (False, POST + DATA, True)),
    ),
    # RFC 9000, section 19
    ("HANDSHAKE_DONE of a client", {PROTOCOL}, raw(0x1E)),
    ("NEW_TOKEN of a client", {PROTOCOL}, raw(0x07, 4, b"tokn")),
    ("an unknown QUIC frame", {FRAME_ENCODING}, raw(0x3F)),
    ("STREAM of a stream that the server has not opened", {STREAM_STATE}, raw(0x0A, 1, 1, b"x")),
    ("STREAM of the server's one-way stream", {STREAM_STATE}, raw(0x0A, 3, 1, b"x")),
    ("RESET_STREAM of the server's one-way stream", {STREAM_STATE}, raw(0x04, 3, 0, 0)),
    ("STOP_SENDING of the client's one-way stream", {STREAM_STATE}, raw(0x05, 2, 0)),
    ("STOP_SENDING of a stream not opened", {STREAM_STATE}, raw(0x05, 1, 0)),
    ("MAX_STREAM_DATA of the client's one-way stream", {STREAM_STATE}, raw(0x11, 2, 9)),
    ("MAX_STREAM_DATA of a stream not opened", {STREAM_STATE}, raw(0x11, 1, 9)),
    ("a stream above the limit", {STREAM_LIMIT}, raw(0x0A, 4 << 40, 1, b"x")),
    ("MAX_STREAMS above 2^60", {FRAME_ENCODING}, raw(0x12, (1 << 60) + 1)),
    ("STREAMS_BLOCKED above 2^60", {FRAME_ENCODING, STREAM_LIMIT}, raw(0x16, (1 << 60) + 1)),
    ("data above the window", {FLOW_CONTROL}, raw(0x0E, 0, 1 << 50, 1, b"x")),
    ("data beyond 2^62", {FRAME_ENCODING, FLOW_CONTROL}, raw(0x0E, 0, (1 << 62) - 1, 1, b"x")),
    ("another final size", {FINAL_SIZE}, both(request(POST, DATA, end=False), raw(0x04, 0, 0, 3))),
    ("RETIRE_CONNECTION_ID of no identifier", {PROTOCOL}, raw(0x19, 99)),
    (
        "NEW_CONNECTION_ID that retires itself", {FRAME_ENCODING},
        raw(0x18, 9, 10, b"\x08identity", b"reset-token-16-b"),
    ),
    (
        "NEW_CONNECTION_ID without an identifier", {FRAME_ENCODING},
        raw(0x18, 9, 0, b"\0", b"reset-token-16-b"),
    ),
    ("NEW_TOKEN without a token", {FRAME_ENCODING, PROTOCOL}, raw(0x07, 0)),
    ("ACK of a packet never sent", {PROTOCOL}, raw(0x02, 1 << 30, 0, 0, 0)),
    ("a cut frame", {FRAME_ENCODING}, raw(0x0A, 0, 1 << 13)),
]

# RFC 9000, section 7.3, 7.4 and 18.2
PARAMETERS = [
    ("original_destination_connection_id of a client", parameter(0, b"12345678")),
    ("stateless_reset_token of a client", parameter(2, b"reset-token-16-b")),
    ("preferred_address of a client", parameter(13, bytes(24) + b"\x08identity" + b"reset-token-16-b")),
    ("retry_source_connection_id of a client", parameter(16, b"12345678")),
    ("max_udp_payload_size below 1200", parameter(3, varint(1199))),
    ("ack_delay_exponent above 20", parameter(10, varint(21))),
    ("a parameter twice", parameter(11, varint(25))),
    ("a cut parameter", b"\x40\x40\x09ab"),
    ("no initial_source_connection_id", None),
]


async def reactions(address, port, codes, act=None, parameters=b"", alpn="h3"):
    """What the server does until it does what it should, but at most for two seconds."""
    options = configuration.QuicConfiguration(
        alpn_protocols=[alpn], verify_mode=ssl.CERT_NONE, server_name="server.test"
    )
    Connection.parameters, Connection.has_source = b"", True
    if parameters is None:
        Connection.has_source = False
    else:
        Connection.parameters = parameters
    aioquic_client.QuicConnection = Connection
    async with aioquic_client.connect(
        address, port, configuration=options, create_protocol=Client, wait_connected=False
    ) as client:
        client.wanted = codes
        client.transmit()
        if act is not None:
            await asyncio.wait_for(client.wait_connected(), 2)
            while act is not None:
                act = act(client._quic)
                client.transmit()
                await asyncio.sleep(0.05 if act is not None else 0)
        try:
            await asyncio.wait_for(client.done.wait(), 2)
        except asyncio.TimeoutError:
            pass
        return list(client.reactions) or [("did nothing", 0)]


async def main(address, port, report):
    cases = [(name, codes, dict(act=act)) for name, codes, act in CASES]
    cases += [(name, {PARAMETER}, dict(parameters=raw)) for name, raw in PARAMETERS]
    cases.append(("no common protocol (ALPN)", {NO_ALPN}, dict(alpn="h9")))
    with open(report, "w") as lines:
        for name, codes, how in cases:
            try:
                seen = await reactions(address, port, codes, **how)
            except (asyncio.TimeoutError, ConnectionError, OSError) as error:
                seen = [(f"no connection ({error!r})", 0)]
            what, code = next((one for one in seen if one[1] in codes), seen[-1])
            text = f"{what} {code:#x}" if what != "status" else f"answered with status {code}"
            print(f"passed {name}" if code in codes else f"failed {name}: {text}", file=lines, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
