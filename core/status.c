/* The status descriptor: JSON lines that report to the caller. */
#define _GNU_SOURCE
#include "fortify.h"
#include "status.h"
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int parent_pidfd = -1;
static int target = FD_STATUS;
static bool closing; /* this is the last line, for which room was kept */
static bool impatient; /* we waited for its reader once, and it did not read */

/* Escapes for JSON and for terminals alike: everything outside printable ASCII becomes \u00XX. */
size_t json_escape(char *out, size_t size, const char *text, size_t len) {
    static const char hex[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < len && used + 7 < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            out[used++] = '\\';
            out[used++] = (char)c;
        } else if (c >= 0x20 && c < 0x7f) {
            out[used++] = (char)c;
        } else {
            memcpy(out + used, "\\u00", 4);
            out[used + 4] = hex[c >> 4];
            out[used + 5] = hex[c & 15];
            used += 6;
        }
    }
    out[used] = '\0';
    return used;
}

void status_while(int parent) {
    parent_pidfd = parent;
    fcntl(FD_STATUS, F_SETFL, O_NONBLOCK);
}

/* A live caller reads; a dead one's pipe may still be open in a process that it forked. */
bool reader_waits(int fd) {
    struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = parent_pidfd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    return (fds[0].revents & POLLOUT) != 0;
}

void status_prepare(int fd) { fcntl(fd, F_SETFL, O_NONBLOCK); }

void status_to(int fd) {
    target = fd;
    closing = impatient = false;
}

void status_closing(void) { closing = true; }

void status_to_caller(void) { status_to(FD_STATUS); }

/* The status of one command of many never waits for long: a line is written if enough room remains for the
 * last one. Half of the pipe may be lost at the ends of pages. */
static bool has_room(size_t len, int patience_ms) {
    enum { LAST = 8192 };
    int size = fcntl(target, F_GETPIPE_SZ), used = 0;
    for (int waited = 0; size > 0; waited++) {
        if (ioctl(target, FIONREAD, &used) < 0)
            return false;
        if ((size_t)used + len + LAST <= (size_t)size / 2)
            return true;
        if (waited >= patience_ms || impatient) {
            impatient = impatient || patience_ms > 0;
            return false;
        }
        poll(NULL, 0, 1);
    }
    return false;
}

static uint64_t lines_lost;

uint64_t status_lost(void) {
    uint64_t lost = lines_lost;
    lines_lost = 0;
    return lost;
}

void emit(const char *format, ...) {
    enum { PATIENCE_MS = 100 };
    static char line[1 << 16]; /* two paths, every byte of them escaped */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (len < 0)
        return;
    if ((size_t)len > sizeof line - 2)
        len = sizeof line - 2;
    line[len++] = '\n';
    if (target != FD_STATUS && !closing && !has_room((size_t)len, PATIENCE_MS)) {
        lines_lost++;
        return;
    }
    for (int done = 0; done < len;) {
        ssize_t n = write(target, line + done, (size_t)(len - done));
        if (n < 0 && (errno == EINTR || (errno == EAGAIN && target == FD_STATUS && reader_waits(FD_STATUS))))
            continue;
        if (n <= 0)
            return; /* the reader is gone; the parent's pidfd ends the run */
        done += (int)n;
    }
}

/* A pipe takes a line of so many bytes as a whole or not at all, pipe(7). */
void emit_at_once(const char *format, ...) {
    static char line[PIPE_BUF];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof line)
        return;
    line[len++] = '\n';
    if (target != FD_STATUS && !has_room((size_t)len, 0))
        return;
    if (write(target, line, (size_t)len) < 0)
        return; /* full, or the reader is gone */
}
