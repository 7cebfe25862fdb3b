/* Processes still running when the command has ended, which end with it: who they are, and where they listen.
 * For people to read, never to decide: a guest may write its own command lines.
 *
 * A guest can block a reader of its command line (the kernel waits for the lock of its memory), it can have
 * thousands of processes, and keep all CPUs busy. So they are stopped first, a child of the reaper reads, and
 * the reaper waits for it with a deadline. */
#define _GNU_SOURCE
#include "fortify.h"
#include "left_running.h"
#include "channel.h"
#include "directory.h"
#include "monotonic.h"
#include "numbers.h"
#include "process_tree.h"
#include "status.h"
#include "tags.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_US = 10000, READING_US = 50000, PATIENCE_US = 100000, BESIDE_OTHERS = 2, ASKED_US = 2000000 };
enum { MOST_DESCRIBED = 20, MOST_LISTENING = 32, MOST_FILES = 256, TABLE_BYTES = 1 << 16, MOST_READERS = 16 };

struct listener {
    uint64_t inode;
    char address[48];
};

struct search {
    int ctl, proc;
    int64_t until_us;
    uint32_t count, described;
    uint64_t command; /* whose processes; 0: all */
    bool command_asked;
    bool briefly; /* without what a guest could block us with */
    bool asked;   /* listening sockets: of the network namespace of the first process found */
    struct listener listeners[MOST_LISTENING];
    size_t listener_count;
    struct left_running found;
    int files, file_count;
};

/* Listening sockets */

static const char *field(const char *line, int number) {
    line += strspn(line, " ");
    for (; number && *line; number--) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return line;
}

/* "sl: local:port remote:port state … inode", in hexadecimal but for the last. */
static void add_listener(struct search *s, const char *line) {
    const char *local = field(line, 1), *state = field(line, 3);
    size_t len = strcspn(local, " ");
    uint64_t inode;
    if (state[0] != '0' || state[1] != 'A' || s->listener_count == MOST_LISTENING ||
        len >= sizeof s->listeners->address || !next_number(field(line, 9), &inode))
        return;
    struct listener *fresh = &s->listeners[s->listener_count++];
    fresh->inode = inode;
    memcpy(fresh->address, local, len);
    fresh->address[len] = '\0';
}

static void add_listeners(struct search *s, const char *pid, const char *table) {
    char text[4096], path[48];
    size_t kept = 0, seen = 0;
    snprintf(path, sizeof path, "%s/net/%s", pid, table);
    int fd = openat(s->proc, path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && seen < TABLE_BYTES && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
        seen += (size_t)n;
        kept += (size_t)n;
        text[kept] = '\0';
        char *line = text, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            add_listener(s, line);
        }
        kept -= (size_t)(line - text);
        for (size_t i = 0; i < kept; i++)
            text[i] = line[i];
    }
    if (fd >= 0)
        close(fd);
}

static void match_file(const char *name, void *context) {
    struct search *s = context;
    char link[64], *to = s->found.listening;
    uint64_t inode;
    if (s->file_count++ >= MOST_FILES || now_us() >= s->until_us)
        return;
    ssize_t n = readlinkat(s->files, name, link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    if (strcspn(link, "[") != 7 || memcmp(link, "socket:", 7) != 0 || !next_number(link + 8, &inode))
        return;
    for (size_t i = 0; i < s->listener_count; i++) {
        const char *address = s->listeners[i].address;
        size_t used = strlen(to), len = strlen(address);
        if (s->listeners[i].inode != inode || strstr(to, address) || used + len + 2 > sizeof s->found.listening)
            continue;
        if (used)
            to[used++] = ' ';
        memcpy(to + used, address, len + 1);
    }
}

static void find_listening(struct search *s, const char *pid) {
    char path[32];
    if (!s->asked) {
        s->asked = true;
        add_listeners(s, pid, "tcp");
        add_listeners(s, pid, "tcp6");
    }
    snprintf(path, sizeof path, "%s/fd", pid);
    s->files = s->listener_count ? openat(s->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (s->files < 0)
        return;
    s->file_count = 0;
    each_number(s->files, match_file, s);
    close(s->files);
}

/* Processes */

/* "pid (name) state …": a zombie does nothing any more. But the state is the first thread's alone, which may
 * have ended before the others: field 20 is the number of threads. */
bool stat_runs(const char *stat) {
    enum { THREADS_AFTER_STATE = 17 };
    const char *end = strrchr(stat, ')');
    uint64_t threads;
    if (!end || strlen(end) < 3)
        return false;
    return (end[2] != 'Z' && end[2] != 'X') ||
           (next_number(field(end + 2, THREADS_AFTER_STATE), &threads) && threads > 1);
}

/* False also if it is gone. */
static bool runs(const struct search *s, const char *pid, struct left_running *found) {
    char text[512];
    if (read_below(s->proc, pid, "stat", text, sizeof text) <= 0)
        return false;
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end < name || !stat_runs(text))
        return false;
    size_t len = (size_t)(end - name + 1); /* without a command line, it is "(name)" */
    found->command_len = (uint32_t)(len < sizeof found->command ? len : sizeof found->command);
    memcpy(found->command, name, found->command_len);
    return true;
}

static void send_found(const struct search *s) {
    struct message message = {.kind = MSG_LEFT_RUNNING, .command = s->command, .left = s->found};
    message.left.asked = s->command_asked;
    channel_send(s->ctl, &message, NULL, 0);
}

static void add_process(const char *pid, void *context) {
    struct search *s = context;
    char command[sizeof s->found.command + 1];
    uint64_t number;
    if (now_us() >= s->until_us || !next_number(pid, &number) || number == 1 ||
        number == (uint64_t)syscall(SYS_getpid))
        return; /* pid 1 is the reaper, or no process of the guest's */
    if (s->command && tag_below(s->proc, pid) != s->command)
        return;
    s->found = (struct left_running){.pid = (uint32_t)number};
    if (!runs(s, pid, &s->found))
        return;
    s->count++;
    if (s->described == MOST_DESCRIBED)
        return;
    ssize_t n = s->briefly ? 0 : read_below(s->proc, pid, "cmdline", command, sizeof command);
    if (n > 0 && *command) {
        s->found.command_len = (uint32_t)n;
        memcpy(s->found.command, command, (size_t)n);
    }
    if (!s->briefly)
        find_listening(s, pid);
    s->described++;
    send_found(s);
}

/* Longer where other commands run meanwhile. */
static int64_t time_to_read(uint64_t command, bool asked) {
    return asked ? ASKED_US : command ? BESIDE_OTHERS * READING_US : READING_US;
}

static void search(int ctl, bool briefly, uint64_t command, bool asked) {
    enum { PROCFS = 0x9fa0 };
    static struct search s; /* large for a stack */
    struct statfs fs;
    s = (struct search){.ctl = ctl, .until_us = now_us() + time_to_read(command, asked), .briefly = briefly, .command = command,
                        .command_asked = asked};
    s.proc = open(tree_watched() ? "/proc" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.proc < 0 || fstatfs(s.proc, &fs) < 0 || fs.f_type != PROCFS)
        return;
    if (!tree_watched())
        each_number_until(s.proc, add_process, &s, s.until_us); /* the reaper's directory is the guest's /proc */
    else if (!briefly)
        each_process(s.proc, add_process, &s);
    s.found = (struct left_running){.count = s.count};
    send_found(&s);
}

/* In the reaper: the remaining processes are all its descendants. */
static bool any_left(void) {
    for (int64_t until = now_us() + GRACE_US;;) {
        pid_t gone = wait4(-1, NULL, __WALL | WNOHANG, NULL);
        if (gone < 0 || now_us() >= until)
            return gone >= 0;
        if (gone == 0)
            poll(NULL, 0, 1);
    }
}

/* Readers for callers that asked, each with its own deadline. */
static struct reader {
    pid_t pid;
    int64_t until_us;
} readers[MOST_READERS];

static bool leave_alone(pid_t pid) {
    for (size_t i = 0; i < MOST_READERS; i++)
        if (!readers[i].pid) {
            readers[i] = (struct reader){pid, now_us() + 2 * ASKED_US};
            return true;
        }
    return false;
}

void left_running_reaped(pid_t pid) {
    for (size_t i = 0; i < MOST_READERS; i++)
        if (readers[i].pid == pid)
            readers[i].pid = 0;
}

bool left_running_reads(void) {
    bool some = false;
    for (size_t i = 0; i < MOST_READERS; i++) {
        if (readers[i].pid && now_us() >= readers[i].until_us)
            kill(readers[i].pid, SIGKILL); /* a guest blocks it, or has stopped it */
        some = some || readers[i].pid;
    }
    return some;
}

/* In a child, which a guest may block: it is waited for until a deadline. If the caller asked, the deadline
 * is longer. */
static void search_in_child(int ctl, uint64_t command, bool asked) {
    int64_t until = now_us() + (command ? BESIDE_OTHERS * PATIENCE_US : PATIENCE_US);
    pid_t reader = fork();
    if (reader < 0) { /* the guest has reached its limit of processes */
        search(ctl, true, command, asked);
        return;
    }
    if (reader == 0) {
        search(ctl, false, command, asked);
        _exit(0);
    }
    if (asked && leave_alone(reader))
        return;
    while (wait4(reader, NULL, __WALL | WNOHANG, NULL) == 0) {
        if (now_us() >= until) {
            kill(reader, SIGKILL); /* a guest may also have stopped it */
            return;
        }
        poll(NULL, 0, 1);
    }
}

void left_running_send(int ctl) {
    if (!any_left())
        return;
    fcntl(ctl, F_SETFL, O_NONBLOCK); /* the supervisor reads it after we have ended */
    struct message some = {.kind = MSG_LEFT_RUNNING, .left = {.count = 1}};
    channel_send(ctl, &some, NULL, 0);
    if (syscall(SYS_getpid) == 1)
        kill(-1, SIGSTOP); /* all but ourselves, kill(2) */
    search_in_child(ctl, 0, false);
}

void left_running_of(int ctl, uint64_t command, size_t count) {
    struct message some = {.kind = MSG_LEFT_RUNNING, .command = command, .left = {.count = (uint32_t)count}};
    channel_send(ctl, &some, NULL, 0); /* reading more of them may block */
    search_in_child(ctl, command, false);
}

void left_running_asked(int ctl, uint64_t command) { search_in_child(ctl, command, true); }

void left_running_report(const struct left_running *left) {
    static char command[6 * sizeof left->command + 8], listening[6 * sizeof left->listening + 8];
    if (!left->command_len) {
        emit("{\"event\":\"%s\",\"count\":%u}", left->asked ? "listening-all" : "left-running", left->count);
        return;
    }
    json_escape(command, sizeof command, left->command, left->command_len);
    json_escape(listening, sizeof listening, left->listening, strnlen(left->listening, sizeof left->listening));
    emit("{\"event\":\"%s\",\"pid\":%u,\"command\":\"%s\",\"listening\":\"%s\"}",
         left->asked ? "listening" : "left-process", left->pid, command, listening);
}
