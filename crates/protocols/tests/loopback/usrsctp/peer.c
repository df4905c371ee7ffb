/*
 * The other side of the interoperation tests: usrsctp, the SCTP of FreeBSD, over UDP (RFC 6951).
 *
 *   peer server UDP_PORT SCTP_PORT
 *       answers every request with its body, until the association ends
 *   peer client UDP_PORT SCTP_PORT REMOTE_UDP_PORT REMOTE_SCTP_PORT STREAMS LENGTH
 *       sends LENGTH bytes on each of STREAMS streams, and checks what comes back
 *
 * Ends with status 0 if everything was as it should be.
 */
#include <unistd.h>

#define MESSAGE_LEN 1300
#include "exchange.h"

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
    while ((stream = hear(s)) != OVER) {
        if (stream == NO_END)
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
        if (stream == OVER)
            fail("the association ended early");
        if (stream == NO_END)
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
    prepare(s);
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
