/*
 * Exchanges over usrsctp, as crates/protocols/src/sctp/exchange.rs frames them. It has no message
 * interleaving (RFC 8260), so messages come whole, one after the other. The program that includes
 * this file defines their length, MESSAGE_LEN.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <usrsctp.h>

#define STREAMS_MAX 64
/* "TRK" and a number, see exchange::Kind. */
#define PPID(kind) htonl(0x54524b00u + (kind))
enum { MORE, LAST, END, BROKEN, STOP };
/* What hear() returns, beside the stream whose end it has taken: the message was no end, the
 * association is over, or a socket that does not block has nothing. */
enum { NO_END = -1, OVER = -2, WAIT = -3 };

static struct {
    unsigned char *bytes;
    size_t len;
} arrived[STREAMS_MAX];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void say(struct socket *s, int stream, int kind, const unsigned char *bytes, size_t len)
{
    struct sctp_sndinfo info;
    memset(&info, 0, sizeof info);
    info.snd_sid = (uint16_t)stream;
    info.snd_ppid = PPID(kind);
    if (usrsctp_sendv(s, bytes, len, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0)
        fail("send");
}

/* A head and a body, in messages. */
static void say_all(struct socket *s, int stream, const unsigned char *head, size_t head_len,
                    const unsigned char *body, size_t len)
{
    say(s, stream, MORE, head, head_len);
    while (len > MESSAGE_LEN) {
        say(s, stream, MORE, body, MESSAGE_LEN);
        body += MESSAGE_LEN;
        len -= MESSAGE_LEN;
    }
    if (len > 0)
        say(s, stream, LAST, body, len);
    else
        say(s, stream, END, (const unsigned char *)"", 1);
}

/* Takes a message. */
static int hear(struct socket *s)
{
    static unsigned char buffer[1 << 16];
    struct sockaddr_in from;
    socklen_t from_len = sizeof from;
    struct sctp_rcvinfo info;
    socklen_t info_len = sizeof info;
    unsigned int type = 0;
    int flags = 0;
    memset(&info, 0, sizeof info);
    ssize_t n = usrsctp_recvv(s, buffer, sizeof buffer, (struct sockaddr *)&from, &from_len, &info,
                              &info_len, &type, &flags);
    if (n < 0 && errno == EWOULDBLOCK)
        return WAIT;
    if (n <= 0)
        return OVER;
    if (flags & MSG_NOTIFICATION)
        return NO_END;
    if (type != SCTP_RECVV_RCVINFO || info.rcv_sid >= STREAMS_MAX) {
        fprintf(stderr, "stream %u\n", info.rcv_sid);
        exit(1);
    }
    int kind = (int)(ntohl(info.rcv_ppid) - 0x54524b00u), stream = info.rcv_sid;
    if (kind == BROKEN || kind == STOP || kind < 0 || kind > STOP) {
        fprintf(stderr, "stream %d ends with kind %d\n", stream, kind);
        exit(1);
    }
    if (kind != END) {
        arrived[stream].bytes = realloc(arrived[stream].bytes, arrived[stream].len + (size_t)n);
        memcpy(arrived[stream].bytes + arrived[stream].len, buffer, (size_t)n);
        arrived[stream].len += (size_t)n;
    }
    /* A message may come in parts if the buffer is too short, which it is not. */
    if (!(flags & MSG_EOR)) {
        fprintf(stderr, "part of a message\n");
        exit(1);
    }
    return kind == MORE ? NO_END : stream;
}

/* What the exchanges need: the stream of each message, and enough streams. */
static void prepare(struct socket *s)
{
    const int on = 1;
    if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on) < 0)
        fail("SCTP_RECVRCVINFO");
    struct sctp_initmsg streams;
    memset(&streams, 0, sizeof streams);
    streams.sinit_num_ostreams = 1024;
    streams.sinit_max_instreams = 1024;
    if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_INITMSG, &streams, sizeof streams) < 0)
        fail("SCTP_INITMSG");
}

#endif
