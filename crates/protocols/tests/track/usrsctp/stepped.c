/*
 * usrsctp, the SCTP of FreeBSD, in virtual time: it reads the clock and sends packets by its standard
 * input and output alone, and so does the same on each run.
 *
 *   stepped server PORT
 *       takes a request and answers with how many bytes its body had
 *   stepped client PORT REMOTE_PORT LENGTH
 *       sends a request with a body of LENGTH zeros, and waits for an answer
 *
 * In: the time in microseconds (8 bytes), a length (4 bytes), and a packet of that length, if any.
 * Out, for each of those: the packets to send, each behind its length (4 bytes), a length of zero, and
 * a byte that is 1 when a client has its answer, else 0. Numbers are in the machine's order. Ends
 * with its input.
 */
#include <sys/time.h>
#include <unistd.h>

/* That of our end (settings::message_len). A message and its header fill a packet, but for the four
 * bytes that the header of I-DATA has more, which our ends use among themselves. */
#define MESSAGE_LEN 1448
#include "../../loopback/usrsctp/exchange.h"

/* What 1,500 bytes leave below a header of IPv4. */
#define PACKET_LEN 1480

static uint64_t now_us;

/* In place of the system's, by the linker's --wrap. */
int __wrap_gettimeofday(struct timeval *time, void *zone)
{
    (void)zone;
    time->tv_sec = (time_t)(1000000000 + now_us / 1000000);
    time->tv_usec = (suseconds_t)(now_us % 1000000);
    return 0;
}

/* In place of the library's: tags and sequence numbers that are the same on each run. */
void __wrap_read_random(void *to, size_t len)
{
    static uint32_t state = 1;
    for (unsigned char *byte = to; len > 0; len--) {
        state = state * 1664525 + 1013904223;
        *byte++ = (unsigned char)(state >> 24);
    }
}

static void put(const void *bytes, size_t len)
{
    if (fwrite(bytes, 1, len, stdout) != len)
        fail("write");
}

static int send_packet(void *address, void *packet, size_t len, uint8_t tos, uint8_t set_df)
{
    (void)address, (void)tos, (void)set_df;
    const uint32_t prefix = (uint32_t)len;
    put(&prefix, sizeof prefix);
    put(packet, len);
    return 0;
}

/* What makes usrsctp comparable with our end, which the test gives the same values. */
static void configure(void)
{
    /* RFC 9260 section 16; FreeBSD has the RTO.Initial of RFC 4960, 3 s. */
    usrsctp_sysctl_set_sctp_rto_initial_default(1000);
    usrsctp_sysctl_set_sctp_rto_min_default(1000);
    usrsctp_sysctl_set_sctp_rto_max_default(60000);
    /* RFC 9260 section 6.2: an acknowledgment of every second packet, and of an odd one after 2 ms,
     * not 200 ms. usrsctp's T3-rtx goes off during a transfer: a SACK without gaps does not restart
     * it, against section 6.3.2, rule R3 (sctp_express_handle_sack calls sctp_timer_start, which
     * leaves a running timer as it is). What is then older than SRTT + 4 * RTTVAR, without RTO.Min,
     * counts as lost (sctp_mark_all_for_resend). So a chunk that waited for a delayed acknowledgment
     * reduced the window to one packet. */
    usrsctp_sysctl_set_sctp_sack_freq_default(2);
    usrsctp_sysctl_set_sctp_delayed_sack_time_default(2);
    /* Four packets; FreeBSD has three, and allows no more than Max.Burst. */
    usrsctp_sysctl_set_sctp_initial_cwnd(4);
    /* RFC 9260 section 6.1, rule D: at most four packets for each SACK. Our end counts them too,
     * and does not make the congestion window smaller, which is the other way to do it. */
    usrsctp_sysctl_set_sctp_max_burst_default(4);
    usrsctp_sysctl_set_sctp_use_cwnd_based_maxburst(0);
    /* RFC 9260 section 7.2.4, rule 3: one packet leaves, whatever the congestion window is. FreeBSD
     * allows four for each SACK, and does not keep rule 5: in fast recovery, each SACK that advances
     * the cumulative TSN counts against all missing chunks, even those just sent again
     * (sctp_strike_gap_ack_chunks). After many losses, those copies overfill the queue. */
    usrsctp_sysctl_set_sctp_fr_max_burst_default(1);
    /* L of RFC 9260 section 7.2.1: slow start grows by one packet for each SACK; FreeBSD has two. */
    usrsctp_sysctl_set_sctp_L2_abc_variable(1);
    /* Its congestion control number 0 is that of RFC 9260. */
    usrsctp_sysctl_set_sctp_default_cc_module(0);
    /* Extensions that our end does not offer. */
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    /* The whole file waits in the send buffer, and the receiver window never closes. */
    usrsctp_sysctl_set_sctp_sendspace(1 << 25);
    usrsctp_sysctl_set_sctp_recvspace(1 << 24);
    usrsctp_sysctl_set_sctp_max_chunks_on_queue(1 << 20);
}

static struct socket *open_socket(uint16_t port)
{
    usrsctp_init_nothreads(0, send_packet, NULL);
    configure();
    usrsctp_register_address(&now_us);
    struct socket *s = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (s == NULL || usrsctp_set_non_blocking(s, 1) < 0)
        fail("socket");
    prepare(s);
    /* Our end does not wait for small packets to become larger ones either. */
    const int on = 1;
    if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on) < 0)
        fail("SCTP_NODELAY");
    struct sctp_paddrparams path;
    memset(&path, 0, sizeof path);
    path.spp_address.ss_family = AF_CONN;
    path.spp_flags = SPP_PMTUD_DISABLE;
    path.spp_pathmtu = PACKET_LEN - 12;
    if (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) < 0)
        fail("SCTP_PEER_ADDR_PARAMS");
    struct sockaddr_conn local = {.sconn_family = AF_CONN};
    local.sconn_port = htons(port);
    local.sconn_addr = &now_us;
    if (usrsctp_bind(s, (struct sockaddr *)&local, sizeof local) < 0)
        fail("bind");
    return s;
}

static void ask(struct socket *s, uint16_t remote_port, size_t len)
{
    struct sockaddr_conn remote = {.sconn_family = AF_CONN};
    remote.sconn_port = htons(remote_port);
    remote.sconn_addr = &now_us;
    if (usrsctp_connect(s, (struct sockaddr *)&remote, sizeof remote) < 0 && errno != EINPROGRESS)
        fail("connect");
    const unsigned char head[] = {1, 0, 5, '/', 'b', 'u', 'l', 'k'};
    unsigned char *body = calloc(1, len);
    if (body == NULL)
        fail("body");
    say_all(s, 0, head, sizeof head, body, len);
    free(body);
}

static void answer(struct socket *s, int stream)
{
    const unsigned char *request = arrived[stream].bytes;
    size_t head = 3 + ((size_t)request[1] << 8 | request[2]);
    const unsigned char ok[] = {2, 0, 200};
    char len[24];
    int digits = snprintf(len, sizeof len, "%zu", arrived[stream].len - head);
    say_all(s, stream, ok, sizeof ok, (const unsigned char *)len, (size_t)digits);
}

/* The time and the packet that come next; whether there were any. */
static int take(unsigned char *packet, uint32_t *len)
{
    if (fread(&now_us, sizeof now_us, 1, stdin) != 1)
        return 0;
    return fread(len, sizeof *len, 1, stdin) == 1 && *len <= PACKET_LEN &&
           fread(packet, 1, *len, stdin) == *len;
}

int main(int argc, char **argv)
{
    if (argc < 3 || (argc < 5 && strcmp(argv[1], "server") != 0))
        return 2;
    struct socket *s = open_socket((uint16_t)atoi(argv[2])), *listener = NULL;
    if (argc < 5) {
        listener = s;
        s = NULL;
        if (usrsctp_listen(listener, 1) < 0)
            fail("listen");
    }
    static unsigned char packet[PACKET_LEN];
    uint32_t len;
    unsigned char over = 0;
    int has_asked = listener != NULL;
    for (uint64_t last_ms = 0; take(packet, &len); last_ms = now_us / 1000) {
        usrsctp_handle_timers((uint32_t)(now_us / 1000 - last_ms));
        if (len > 0)
            usrsctp_conninput(&now_us, packet, len, 0);
        if (!has_asked) {
            ask(s, (uint16_t)atoi(argv[3]), (size_t)atol(argv[4]));
            has_asked = 1;
        }
        if (s == NULL && (s = usrsctp_accept(listener, NULL, NULL)) != NULL)
            usrsctp_set_non_blocking(s, 1);
        for (int stream; s != NULL && (stream = hear(s)) != WAIT;) {
            if (stream == OVER)
                return 0;
            if (stream == NO_END)
                continue;
            if (listener != NULL)
                answer(s, stream);
            else
                over = 1;
        }
        const uint32_t none = 0;
        put(&none, sizeof none);
        put(&over, sizeof over);
        fflush(stdout);
    }
    return 0;
}
