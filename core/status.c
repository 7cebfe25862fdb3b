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
#include <unistd.h>

static int parent_pidfd = -1;

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

/* A caller that lives will read; a dead one's pipe may still be open in a process that it forked. */
bool reader_waits(int fd) {
    struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = parent_pidfd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    return (fds[0].revents & POLLOUT) != 0;
}

void emit(const char *format, ...) {
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
    for (int done = 0; done < len;) {
        ssize_t n = write(FD_STATUS, line + done, (size_t)(len - done));
        if (n < 0 && (errno == EINTR || (errno == EAGAIN && reader_waits(FD_STATUS))))
            continue;
        if (n <= 0)
            return; /* nobody listens any more; the pidfd of the parent ends the run */
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
    if (write(FD_STATUS, line, (size_t)len) < 0)
        return; /* full, or nobody listens */
}
