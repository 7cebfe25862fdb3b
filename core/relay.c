/* The guest's standard streams. It never gets a file, socket or terminal of the caller's: those could be
 * reopened through /proc/self/fd with more rights than intended. It gets pipes, or a terminal of its own;
 * this code moves the bytes, counts them, and never blocks. */
#define _GNU_SOURCE
#include "fortify.h"
#include "relay.h"
#include "fail.h"
#include "plan.h"
#include "status.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe holds STAGED bytes even if its user has reached the limit of pages in pipes, pipe(7). */
enum { CHUNK = 1 << 14, SPLICE_CHUNK = 1 << 16, TTY_CHUNK = 1024, STAGED = 4096 };

struct lane {
    int from, to;
    bool open;
    bool buffered;  /* splice does not work for this pair */
    bool wait_to;   /* bytes are there, and the reader is not ready */
    bool counts;    /* is output */
    bool to_socket, to_tty;
    struct copy copy;
    bool holds; /* the bytes so far may be a message of the sandbox's own program, not of its guest */
    bool staged; /* bytes pass through this pipe of our own, so that writing them never waits */
    int stage[2];
    size_t start, end;
    uint64_t bytes;
    nfds_t slot; /* its index in the caller's pollfd array in this round */
    char buffer[CHUNK];
};

static struct lane lanes[3];
enum { MAX_HELD = 4096 };
/* The last bytes of standard error, or of the terminal that replaces it; the newest overwrite the oldest. */
enum { TAIL = 4096 };
static char tail[TAIL];
static uint64_t tail_bytes;
static struct lane *tailed; /* NULL: not wanted */
static char voice[MAX_VOICE], held[MAX_HELD];
static size_t held_len;
static int guest_ends[3] = {-1, -1, -1};
static int caller_ends[3] = {-1, -1, -1}; /* handed straight through; closed after the clone */
static uint64_t output_limit, output_total;
static bool output_exceeded;
static struct termios saved_terminal; /* the kernel's, not the C library's larger one */
static int terminal_fd = -1, terminal_master = -1;

static void lane_open(struct lane *lane, int from, int to, bool counts, struct copy copy) {
    struct stat st = {0};
    lane->from = from;
    lane->to = to;
    lane->open = true;
    lane->counts = counts;
    fstat(to, &st);
    lane->to_socket = S_ISSOCK(st.st_mode);
    lane->to_tty = S_ISCHR(st.st_mode);
    lane->buffered = lane->to_socket || lane->to_tty;
    if ((copy.room || lane == tailed) && !lane->buffered)
        lane->staged = lane->buffered = pipe2(lane->stage, O_CLOEXEC | O_NONBLOCK) == 0;
    if (lane->buffered)
        lane->copy = copy;
}

static void unstage(struct lane *lane) {
    if (!lane->staged)
        return;
    lane->staged = false;
    close(lane->stage[0]);
    close(lane->stage[1]);
}

static void lane_close(struct lane *lane) {
    if (!lane->open)
        return;
    lane->open = false;
    unstage(lane);
    if (lane->from != terminal_master)
        close(lane->from);
    if (lane->to != terminal_master)
        close(lane->to);
}

void relay_prepare(struct plan *plan) {
    output_limit = plan->output_bytes;
    if (plan->bare.voice) {
        snprintf(voice, sizeof voice, "%s", plan->bare.voice);
        lanes[plan->streams[2].kind == STREAM_PTY ? 1 : 2].holds = true;
    }
    if (plan->tail)
        tailed = &lanes[plan->streams[2].kind == STREAM_PTY ? 1 : 2];
    for (int i = 0; i < 3; i++) {
        const struct stream *stream = &plan->streams[i];
        int ends[2];
        if (stream->kind == STREAM_DIRECT) {
            guest_ends[i] = caller_ends[i] = stream->fd;
        } else if (stream->kind == STREAM_RELAY) {
            if (pipe2(ends, O_CLOEXEC) < 0)
                die(errno, "streams", "making a pipe for the guest");
            int ours = i == 0 ? ends[1] : ends[0];
            guest_ends[i] = i == 0 ? ends[0] : ends[1];
            if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
                die(errno, "streams", "preparing a pipe for the guest");
            lane_open(&lanes[i], i == 0 ? stream->fd : ours, i == 0 ? ours : stream->fd, i != 0,
                      plan->copies[i]);
        }
    }
}

void relay_release(void) {
    for (int i = 0; i < 3; i++) {
        if (guest_ends[i] >= 0)
            close(guest_ends[i]);
        guest_ends[i] = caller_ends[i] = -1;
    }
}

int relay_guest_end(int stream) { return guest_ends[stream]; }

/* Raw mode: every key goes to the guest's own terminal, which interprets it; termios(3). */
static void make_raw(struct termios *terminal) {
    terminal->c_iflag &= (tcflag_t)~(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    terminal->c_oflag &= (tcflag_t)~OPOST;
    terminal->c_lflag &= (tcflag_t)~(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    terminal->c_cflag = (terminal->c_cflag & (tcflag_t)~(CSIZE | PARENB)) | CS8;
    terminal->c_cc[VMIN] = 1;
    terminal->c_cc[VTIME] = 0;
}

void relay_pty(struct plan *plan, int master) {
    terminal_master = master;
    fcntl(master, F_SETFL, O_NONBLOCK);
    int in = plan->streams[0].kind == STREAM_PTY ? plan->streams[0].fd : -1;
    int out = plan->streams[1].kind == STREAM_PTY ? plan->streams[1].fd : -1;
    if (in >= 0 && ioctl(in, TCGETS, &saved_terminal) == 0) {
        terminal_fd = in;
        struct termios raw = saved_terminal;
        make_raw(&raw);
        ioctl(in, TCSETSW, &raw);
        ioctl(master, TCSETS, &saved_terminal);
    }
    if (in >= 0)
        lane_open(&lanes[0], in, master, false, plan->copies[0]);
    if (out >= 0)
        lane_open(&lanes[1], master, out, true, plan->copies[1]);
    lanes[0].buffered = lanes[1].buffered = true;
    relay_resize();
}

void relay_resize(void) {
    struct winsize size;
    if (terminal_fd >= 0 && ioctl(terminal_fd, TIOCGWINSZ, &size) == 0)
        ioctl(terminal_master, TIOCSWINSZ, &size);
}

void relay_restore_terminal(void) {
    if (terminal_fd >= 0)
        ioctl(terminal_fd, TCSETSW, &saved_terminal);
}

size_t relay_poll(struct pollfd *fds, size_t room) {
    size_t used = 0;
    for (int i = 0; i < 3 && used < room; i++) {
        struct lane *lane = &lanes[i];
        if (!lane->open)
            continue;
        bool writing = lane->end > lane->start || lane->wait_to;
        lane->slot = used;
        fds[used++] = (struct pollfd){.fd = writing ? lane->to : lane->from,
                                      .events = writing ? POLLOUT : POLLIN};
    }
    return used;
}

static ssize_t write_some(struct lane *lane) {
    if (lane->staged) {
        ssize_t n = splice(lane->stage[0], NULL, lane->to, NULL, lane->end - lane->start,
                           SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
        if (n >= 0 || errno != EINVAL)
            return n;
        unstage(lane); /* a file that is appended to: it takes everything at once */
    }
    const char *at = lane->buffer + lane->start;
    size_t len = lane->end - lane->start;
    if (lane->to_socket)
        return send(lane->to, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (lane->to_tty && len > TTY_CHUNK)
        len = TTY_CHUNK; /* a terminal that polls as writable takes at least this without waiting */
    return write(lane->to, at, len);
}

/* How much this lane may still take in; 0 with bytes waiting means that the limit was reached. */
static size_t allowance(const struct lane *lane, size_t chunk) {
    if (!lane->counts || !output_limit)
        return chunk;
    uint64_t left = output_limit - output_total;
    return left < chunk ? (size_t)left : chunk;
}

static void count(struct lane *lane, ssize_t n) {
    lane->bytes += (uint64_t)n;
    if (lane->counts)
        output_total += (uint64_t)n;
}

/* The guest can change bytes while they lie in a pipe, vmsplice(2), so the copy and the output come from the
 * same read. */
static void keep_copy(struct lane *lane) {
    const char *at = lane->buffer;
    size_t len = lane->end < lane->copy.room ? lane->end : (size_t)lane->copy.room;
    while (len) {
        ssize_t n = write(lane->copy.fd, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) { /* most likely a full disk: the run goes on without the copy */
            lane->copy.room = 0;
            return;
        }
        at += n;
        len -= (size_t)n;
        lane->copy.room -= (uint64_t)n;
    }
}

static void keep_tail(const struct lane *lane) {
    size_t skip = lane->end > TAIL ? lane->end - TAIL : 0;
    for (size_t i = skip; lane == tailed && i < lane->end; i++)
        tail[tail_bytes++ % TAIL] = lane->buffer[i];
}

void relay_report_tail(void) {
    static char last[TAIL], text[6 * TAIL + 8];
    size_t len = tail_bytes < TAIL ? (size_t)tail_bytes : TAIL;
    for (size_t i = 0; i < len; i++)
        last[i] = tail[(tail_bytes - len + i) % TAIL];
    json_escape(text, sizeof text, last, len);
    if (len)
        emit("{\"event\":\"tail\",\"text\":\"%s\"}", text);
}

static void step_buffered(struct lane *lane, size_t allowed) {
    if (lane->staged && !lane->copy.room && lane != tailed && lane->end == lane->start) {
        unstage(lane); /* the copy is complete: splice again */
        lane->buffered = false;
        return;
    }
    if (lane->end == lane->start) {
        size_t most = lane->staged ? STAGED : CHUNK;
        ssize_t n = read(lane->from, lane->buffer, allowed < most ? allowed : most);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) { /* the end; a pty says EIO */
            lane_close(lane);
            return;
        }
        lane->start = 0;
        lane->end = (size_t)n;
        count(lane, n);
        keep_copy(lane);
        keep_tail(lane);
        if (lane->staged && write(lane->stage[1], lane->buffer, lane->end) != n)
            unstage(lane);
    }
    ssize_t n = write_some(lane);
    if (n > 0)
        lane->start += (size_t)n;
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        lane_close(lane); /* the reader is gone: the guest gets SIGPIPE, as it would without us */
}

static void step_splice(struct lane *lane, size_t allowed) {
    lane->wait_to = false;
    ssize_t n = splice(lane->from, NULL, lane->to, NULL, allowed, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (n > 0) {
        count(lane, n);
        return;
    }
    if (n == 0) {
        lane_close(lane);
    } else if (errno == EINVAL) {
        lane->buffered = true;
    } else if (errno == EAGAIN) {
        int waiting = 0;
        lane->wait_to = ioctl(lane->from, FIONREAD, &waiting) == 0 && waiting > 0;
    } else if (errno != EINTR) {
        lane_close(lane);
    }
}

/* Is there more, or only the end of the stream? Decides whether the limit was exceeded. */
static bool has_bytes(int fd) {
    int waiting = 0;
    return ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

/* Holds back what begins like a message of the sandbox's own program; it is reported in the result, if it is
 * one. */
static void step_held(struct lane *lane, size_t allowed) {
    size_t room = sizeof held - held_len, spoken = strlen(voice);
    ssize_t n = read(lane->from, held + held_len, allowed < room ? allowed : room);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        lane_close(lane);
        return;
    }
    count(lane, n);
    held_len += (size_t)n;
    if (held_len < sizeof held && memcmp(held, voice, held_len < spoken ? held_len : spoken) == 0)
        return;
    lane->holds = false; /* it was the guest's output */
    memcpy(lane->buffer, held, held_len);
    lane->start = 0;
    lane->end = held_len;
    held_len = 0;
    keep_copy(lane);
    keep_tail(lane);
    if (lane->staged && write(lane->stage[1], lane->buffer, lane->end) != (ssize_t)lane->end)
        unstage(lane);
}

void relay_report_held(void) {
    static char text[6 * MAX_HELD + 8];
    if (!held_len)
        return;
    json_escape(text, sizeof text, held, held_len);
    emit("{\"event\":\"held\",\"text\":\"%s\"}", text);
}

void relay_step(const struct pollfd *fds, size_t poll_count) {
    for (int i = 0; i < 3; i++) {
        struct lane *lane = &lanes[i];
        if (!lane->open || lane->slot >= poll_count || !fds[lane->slot].revents)
            continue;
        size_t allowed = allowance(lane, lane->buffered ? CHUNK : SPLICE_CHUNK);
        if (allowed == 0 && lane->end == lane->start) {
            output_exceeded = output_exceeded || has_bytes(lane->from);
            lane_close(lane);
        } else if (lane->holds) {
            step_held(lane, allowed);
        } else if (lane->buffered || lane->end > lane->start) {
            step_buffered(lane, allowed);
        } else {
            step_splice(lane, allowed);
        }
    }
}

void relay_give_up(void) {
    for (int i = 1; i < 3; i++)
        if (lanes[i].open && lanes[i].end == lanes[i].start && !has_bytes(lanes[i].from))
            lane_close(&lanes[i]);
}

bool relay_drained(void) { return !lanes[1].open && !lanes[2].open; }

uint64_t relay_bytes(int stream) { return lanes[stream].bytes; }

bool relay_output_exceeded(uint64_t limit) { return limit && output_exceeded; }
