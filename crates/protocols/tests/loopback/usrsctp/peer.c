/*
 * The other side of the interoperation tests: usrsctp, the SCTP of FreeBSD, over UDP (RFC 6951).
 *
 *   peer server UDP_PORT SCTP_PORT
 *       answers every request with its body, until the association ends
 *   peer client UDP_PORT SCTP_PORT REMOTE_UDP_PORT REMOTE_SCTP_PORT STREAMS LENGTH
 *       sends LENGTH bytes on each of STREAMS streams, and checks what comes back
 *
 * It has no message interleaving (RFC 8260), so messages come whole, one after the other. Ends with
 * status 0 if everything was as it should be.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

#define STREAMS_MAX 64
#define MESSAGE_LEN 1300
/* "TRK" and a number, see exchange::Kind. */
#define PPID(kind) htonl(0x54524b00u + (kind))
enum { MORE, LAST, END, BROKEN, STOP };

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

/* Takes a message; the stream whose end it is, -1 if it is none, or -2 at the end of all. */
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
    if (n <= 0)
        return -2;
    if (flags & MSG_NOTIFICATION)
        return -1;
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
    return kind == MORE ? -1 : stream;
}

static void serve(struct socket *listener)
{
    if (usrsctp_listen(listener, 1) < 0)
        fail("listen");
    printf("ready\n");
    fflush(stdout);
    struct socket *s = usrsctp_accept(listener, NULL, NULL);
    if (s == NULL)
        fail("accept");
    int stream;
    while ((stream = hear(s)) != -2) {
        if (stream < 0)
            continue;
        unsigned char *request = arrived[stream].bytes;
        size_t head = 3 + ((size_t)request[1] << 8 | request[2]);
        const unsigned char ok[] = {2, 0, 200};
        say_all(s, stream, ok, sizeof ok, request + head, arrived[stream].len - head);
        arrived[stream].len = 0;
    }
    usrsctp_close(s);
}

static unsigned char pattern(int stream, size_t at)
{
    return (unsigned char)((at * 2654435761u >> 13) + (size_t)stream * 7);
}

static void ask(struct socket *s, const struct sockaddr_in *remote, int streams, size_t len)
{
    if (usrsctp_connect(s, (struct sockaddr *)(uintptr_t)remote, sizeof *remote) < 0)
        fail("connect");
    unsigned char *body = malloc(len + 1);
    for (int stream = 0; stream < streams; stream++) {
        const unsigned char head[] = {1, 0, 5, '/', 'e', 'c', 'h', 'o'};
        for (size_t at = 0; at < len; at++)
            body[at] = pattern(stream, at);
        say_all(s, stream, head, sizeof head, body, len);
    }
    for (int ended = 0; ended < streams;) {
        int stream = hear(s);
        if (stream == -2)
            fail("the association ended early");
        if (stream < 0)
            continue;
        const unsigned char *answer = arrived[stream].bytes;
        int good = arrived[stream].len == len + 3 && answer[0] == 2 && answer[2] == 200;
        for (size_t at = 0; good && at < len; at++)
            good = answer[3 + at] == pattern(stream, at);
        if (!good) {
            fprintf(stderr, "stream %d brought %zu bytes back, not all right\n", stream,
                    arrived[stream].len);
            exit(1);
        }
        ended++;
    }
    usrsctp_close(s);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int is_server = strcmp(argv[1], "server") == 0;
    usrsctp_init((uint16_t)atoi(argv[2]), NULL, NULL);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_sendspace(1 << 24);
    usrsctp_sysctl_set_sctp_recvspace(1 << 22);
    struct socket *s =
        usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (s == NULL)
        fail("socket");
    const int on = 1;
    if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on) < 0)
        fail("SCTP_RECVRCVINFO");
    struct sctp_initmsg streams;
    memset(&streams, 0, sizeof streams);
    streams.sinit_num_ostreams = 1024;
    streams.sinit_max_instreams = 1024;
    if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_INITMSG, &streams, sizeof streams) < 0)
        fail("SCTP_INITMSG");
    struct sockaddr_in local = {.sin_family = AF_INET};
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    local.sin_port = htons((uint16_t)atoi(argv[3]));
    if (usrsctp_bind(s, (struct sockaddr *)&local, sizeof local) < 0)
        fail("bind");
    if (is_server) {
        serve(s);
    } else {
        if (argc < 8)
            return 2;
        struct sockaddr_in remote = local;
        remote.sin_port = htons((uint16_t)atoi(argv[5]));
        struct sctp_udpencaps udp;
        memset(&udp, 0, sizeof udp);
        udp.sue_address.ss_family = AF_INET;
        udp.sue_port = htons((uint16_t)atoi(argv[4]));
        if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &udp, sizeof udp) < 0)
            fail("SCTP_REMOTE_UDP_ENCAPS_PORT");
        ask(s, &remote, atoi(argv[6]), (size_t)atol(argv[7]));
    }
    if (is_server)
        usrsctp_close(s);
    for (int tries = 0; usrsctp_finish() != 0 && tries < 500; tries++)
        usleep(10000);
    return 0;
}
