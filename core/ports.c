/* The ports that the guest listens on, on its own loopback: a connection there reaches the guest itself. */
#define _GNU_SOURCE
#include "fortify.h"
#include "ports.h"
#include "monotonic.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t own_ports[65536 / 64];
static bool takes_any; /* some were left to the kernel to choose */
static int64_t began_us;

void ports_begin(void) { began_us = now_us(); }

void take_port(unsigned port) {
    if (port)
        own_ports[port / 64] |= UINT64_C(1) << (port % 64);
    else
        takes_any = true;
}

bool is_own_port(unsigned port) { return own_ports[port / 64] >> (port % 64) & 1; }

static bool find_port(char *table, unsigned port) {
    /* "  0: 0100007F:1F90 00000000:0000 0A …": a listener is 0A of TCP and 07 of UDP */
    static const char digits[] = "0123456789ABCDEF";
    const char wanted[] = {':', digits[port >> 12], digits[port >> 8 & 15], digits[port >> 4 & 15],
                           digits[port & 15], ' ', '\0'};
    char *line = table;
    while ((line = strchr(line, '\n'))) {
        line++;
        char *local = strstr(line, wanted), *end = strchr(line, '\n');
        char *peer = local ? strchr(local, ' ') : NULL, *state = peer ? strchr(peer + 1, ' ') : NULL;
        if (state && (!end || state < end) && local < peer && local - line < 48 &&
            state[1] == '0' && (state[2] == 'A' || state[2] == '7')) /* the table may end anywhere */
            return true;
    }
    return false;
}

static bool listens_inside(pid_t task, unsigned port) {
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
    static char text[1 << 15];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/net/%s", (int)task, tables[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = 0, more = 0;
        while (fd >= 0 && (size_t)n < sizeof text - 1 && (more = read(fd, text + n, sizeof text - 1 - (size_t)n)) > 0)
            n += more;
        if (fd >= 0)
            close(fd);
        text[n] = '\0';
        if (find_port(text, port))
            return true;
    }
    return false;
}

/* Reading /proc/net makes the kernel walk all of its tables: milliseconds. A server with many clients would
 * wait for each, so looking takes a twentieth of the run's time at most; a port that is not looked up counts
 * as the guest's own: it is on its own loopback, and nothing depends on the answer. */
enum { LOOK_AT_ONCE_US = 200000, LOOK_SHARE = 20 };
bool meets_itself(pid_t task, unsigned port) {
    static int64_t looked_us;
    if (is_own_port(port) || !takes_any)
        return is_own_port(port);
    int64_t begun = now_us();
    if (looked_us > LOOK_AT_ONCE_US + (begun - began_us) / LOOK_SHARE)
        return true;
    if (listens_inside(task, port))
        take_port(port);
    looked_us += now_us() - begun;
    return is_own_port(port);
}
