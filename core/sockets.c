/* Memory in the sockets of the guest's own network namespace, connections that nobody has accepted included:
 * read from the kernel's tables, which list a socket whether or not anyone has it open. */
#define _GNU_SOURCE
#include "fortify.h"
#include "sockets.h"
#include "directory.h"
#include "limits.h"
#include "monotonic.h"
#include "numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SOCKET_BYTES = 2048,    /* the socket itself, with its file */
    LEAST_MOST = 212992,     /* net.core.wmem_max, where it can't be read */
    TRUSTED = 2,
    DATAGRAMS = 11,         /* net.unix.max_dgram_qlen, and one more */
    LISTENING = 10,         /* TCP_LISTEN: its queues are counts of connections */
};

static int diag = -1;

/* The most that one sender's buffer may hold: twice what can be asked for, socket(7). */
static uint64_t full_bytes(void) {
    static uint64_t most;
    char text[32];
    if (!most) {
        int dir = open("/proc/sys/net/core", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0 || read_below(dir, ".", "wmem_max", text, sizeof text) <= 0 || !next_number(text, &most) || !most)
            most = LEAST_MOST;
        if (dir >= 0)
            close(dir);
    }
    return 2 * most;
}

void sockets_attach(int fd) { diag = fd; }

/* In the caller's network namespace: queries it about unix sockets. */
int sockets_diag(void) { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG); }

static uint64_t hexadecimal(const char **at) {
    uint64_t value = 0;
    for (;; (*at)++) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
        if (digit == 16)
            return value;
        value = value << 4 | digit;
    }
}

/* "sl: local:port remote:port state tx:rx …", in hexadecimal; what is sent is also on its way. */
static uint64_t queues_in(const char *line) {
    const char *at = strchr(line, ':');
    for (int field = 0; at && field < 3; field++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (!at || !*at)
        return 0;
    uint64_t state = hexadecimal(&at);
    at += strspn(at, " ");
    uint64_t sent = hexadecimal(&at);
    at += *at == ':';
    uint64_t received = hexadecimal(&at);
    return SOCKET_BYTES + (state == LISTENING ? 0 : 2 * (sent + received)); /* with the kernel's own overhead */
}

static uint64_t add_table(int proc, const char *name) {
    char text[4096];
    size_t kept = 0;
    uint64_t sum = 0;
    bool heading = true;
    int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
        kept += (size_t)n;
        text[kept] = '\0';
        char *line = text, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            sum += heading ? 0 : queues_in(line);
            heading = false;
        }
        kept -= (size_t)(line - text);
        for (size_t i = 0; i < kept; i++)
            text[i] = line[i];
    }
    if (fd >= 0)
        close(fd);
    return sum;
}

/* Memory of one unix socket. Data is charged to its sender while that is open; of what closed senders left,
 * only the length is known, or for datagrams the length of the first one. */
static uint64_t unix_bytes(const struct nlmsghdr *header, size_t *queues) {
    const struct unix_diag_msg *about = (const void *)((const char *)header + NLMSG_HDRLEN);
    uint32_t sent = 0, waiting = 0, left = 0, pending;
    uint8_t ended = 0;
    size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof *about);
    while (at + sizeof(struct nlattr) <= header->nlmsg_len) {
        const struct nlattr *attribute = (const void *)((const char *)header + at);
        const char *value = (const char *)attribute + NLA_HDRLEN;
        if (attribute->nla_len < sizeof *attribute || at + attribute->nla_len > header->nlmsg_len)
            break;
        size_t len = attribute->nla_len - (size_t)NLA_HDRLEN;
        if (attribute->nla_type == UNIX_DIAG_MEMINFO && len >= 4 * (SK_MEMINFO_WMEM_ALLOC + 1))
            memcpy(&sent, value + 4 * SK_MEMINFO_WMEM_ALLOC, 4);
        else if (attribute->nla_type == UNIX_DIAG_RQLEN && len >= 4)
            memcpy(&waiting, value, 4);
        else if (attribute->nla_type == UNIX_DIAG_ICONS)
            for (size_t i = 0; i + 4 <= len; i += 4) {
                memcpy(&pending, value + i, 4);
                left += pending == 0; /* a connection whose other end is closed */
            }
        else if (attribute->nla_type == UNIX_DIAG_SHUTDOWN && len >= 1)
            ended = (uint8_t)*value;
        at += NLA_ALIGN(attribute->nla_len);
    }
    uint64_t sum = SOCKET_BYTES + (uint64_t)sent;
    if (about->udiag_state == LISTENING) /* connections that wait are not listed themselves */
        return sum + left * full_bytes();
    if (!waiting)
        return sum;
    if (about->udiag_type == SOCK_DGRAM) /* the first few are taken to be like their first datagram */
        return sum + DATAGRAMS * (++*queues > TRUSTED ? full_bytes() : 2 * (uint64_t)waiting);
    enum { BOTH_WAYS = 3 }; /* the other end is closed */
    return ended == BOTH_WAYS ? sum + full_bytes() : sum;
}

static bool ask_for_unix(void) {
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } ask = {.header = {.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             .request = {.sdiag_family = AF_UNIX, .udiag_states = ~0U,
                         .udiag_show = UDIAG_SHOW_RQLEN | UDIAG_SHOW_MEMINFO | UDIAG_SHOW_ICONS}};
    return send(diag, &ask, sizeof ask, MSG_DONTWAIT) == (ssize_t)sizeof ask;
}

static uint64_t unix_sockets(void) {
    static union {
        char bytes[32768];
        struct nlmsghdr align;
    } room;
    uint64_t sum = 0;
    size_t queues = 0;
    if (diag < 0 || !ask_for_unix())
        return 0;
    for (ssize_t n; (n = read(diag, room.bytes, sizeof room)) > 0;) {
        for (size_t at = 0; at + sizeof(struct nlmsghdr) <= (size_t)n;) {
            const struct nlmsghdr *header = (const void *)(room.bytes + at);
            if (header->nlmsg_len < sizeof *header || at + header->nlmsg_len > (size_t)n)
                return sum;
            if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
                return sum; /* a kernel without this table: its sockets are not seen */
            sum += unix_bytes(header, &queues);
            at += NLMSG_ALIGN(header->nlmsg_len);
        }
    }
    return sum;
}

/* Are there any internet sockets? The lines are "TCP: inuse 2 orphan 0 …", counted by namespace. */
static bool any_inuse(int proc, const char *name) {
    static const char mark[] = " inuse ";
    char text[1024];
    errno = 0; /* an empty file is not a missing one */
    if (read_below(proc, "1/net", name, text, sizeof text) <= 0)
        return errno != ENOENT; /* without the file, without that family of addresses */
    for (const char *at = text; (at = strstr(at, mark)); ) {
        at += sizeof mark - 1;
        if (*at != '0')
            return true;
    }
    return false;
}

/* Buffers of TCP and UDP sockets. Reading each table walks a hash of the whole machine, milliseconds long: it
 * is done only where there are such sockets, and for a twentieth of the time. */
static uint64_t internet_sockets(int proc) {
    static const char *const tables[] = {"1/net/tcp", "1/net/tcp6", "1/net/udp", "1/net/udp6"};
    enum { SHARE = 20 };
    static int64_t next_us;
    static uint64_t sum;
    int64_t started = now_us();
    if (!any_inuse(proc, "sockstat") && !any_inuse(proc, "sockstat6"))
        return sum = 0;
    if (started < next_us)
        return sum;
    sum = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        sum += add_table(proc, tables[i]);
    int64_t ended = now_us();
    next_us = ended + (ended - started) * SHARE;
    return sum;
}

/* Zero where the network is the host's: its tables list everybody's. */
uint64_t socket_bytes(const struct guest_views *views, bool and_unix) {
    if (diag < 0 || views->proc < 0)
        return 0;
    uint64_t sum = internet_sockets(views->proc);
    return and_unix ? sum + unix_sockets() : sum;
}
