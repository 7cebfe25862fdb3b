/* Failing, and saying so: one JSON line to the caller, or one message to the supervisor who writes it. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int supervisor_ctl = -1, parent_pidfd = -1;

void report_to_status(void) { supervisor_ctl = -1; }

void report_to_supervisor(int ctl) { supervisor_ctl = ctl; }

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

void report_while(int parent) {
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

_Noreturn void die_again(const struct failure *failure) {
    char what[1200], wall[200];
    json_escape(what, sizeof what, failure->what, strnlen(failure->what, sizeof failure->what));
    json_escape(wall, sizeof wall, failure->wall, strnlen(failure->wall, sizeof failure->wall));
    emit("{\"event\":\"failed\",\"wall\":\"%s\",\"what\":\"%s\",\"errno\":%d}", wall, what,
         failure->error);
    relay_restore_terminal();
    close(FD_STATUS); /* the caller goes on while we clean up */
    supervise_nothing();
    _exit(125);
}

_Noreturn void die(int error, const char *wall, const char *format, ...) {
    struct message message = {.kind = MSG_FAILURE};
    message.failure.error = error;
    snprintf(message.failure.wall, sizeof message.failure.wall, "%s", wall);
    va_list args;
    va_start(args, format);
    vsnprintf(message.failure.what, sizeof message.failure.what, format, args);
    va_end(args);
    if (supervisor_ctl < 0)
        die_again(&message.failure);
    channel_send(supervisor_ctl, &message, NULL, 0);
    _exit(125);
}
