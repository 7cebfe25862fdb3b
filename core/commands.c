/* The commands of a living sandbox: requested by the caller, started and ended by the reaper (place.c), each
 * with a status pipe and a control socket of its own. A command whose status pipe is full never holds up the
 * others (status.h).
 *
 * The caller's requests are struct request with descriptors beside it. On a command's own control socket it
 * sends single bytes: a signal's number, or one of the orders below. */
#define _GNU_SOURCE
#include "fortify.h"
#include "commands.h"
#include "cgroup.h"
#include "descriptors.h"
#include "directory.h"
#include "disk.h"
#include "ending.h"
#include "fail.h"
#include "fuse_root.h"
#include "left_running.h"
#include "limits.h"
#include "monotonic.h"
#include "numbers.h"
#include "place.h"
#include "refusals.h"
#include "status.h"
#include "tags.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDER_KILL = 255, ORDER_BEGIN = 254, ORDER_OUTPUT = 253, ORDER_LISTENING = 252 };
enum { REQUEST_START = 's', REQUEST_SOCKET = 'n', REQUEST_DIRECTORY = 'd', REQUEST_CLOSE = 'q' };
enum { WITH_PTY = 1, IN_BACKGROUND = 2 };

struct request {
    uint8_t kind, streams, flags, family;
    uint16_t rows, columns;
    uint64_t command, wall_ms;
    char path[64];
};

struct command {
    uint64_t number; /* 0: the slot is free */
    int status, control;
    bool background;    /* goes on when the caller lets go of it */
    bool failed;        /* could not be started, which was reported */
    bool end_asked;     /* of the reaper */
    const char *reason; /* why it is being ended */
    int64_t started_us, deadline_us;
    int exec_error;
    uint64_t starved_before;
};

static struct command commands[MAX_COMMANDS];
static int reaper_ctl = -1;
static bool on, used, closed; /* closed: by the caller, who waits for the end */

bool commands_closed(void) { return closed; }
bool commands_used(void) { return used; }
bool commands_on(void) { return on; }
void commands_without_reaper(void) { reaper_ctl = -1; }

void commands_begin(int ctl) {
    reaper_ctl = ctl;
    on = true;
}

static struct command *find(uint64_t number) {
    for (size_t i = 0; i < MAX_COMMANDS; i++)
        if (commands[i].number == number)
            return &commands[i];
    return NULL;
}

bool commands_known(uint64_t number) { return find(number) != NULL; }

int64_t commands_began_us(uint64_t number) {
    const struct command *command = find(number);
    return command ? command->started_us : 0;
}

size_t commands_running(void) {
    size_t running = 0;
    for (size_t i = 0; i < MAX_COMMANDS; i++)
        running += commands[i].number != 0;
    return running;
}

void commands_status(uint64_t number) {
    const struct command *command = number ? find(number) : NULL;
    if (command)
        status_to(command->status);
    else
        status_to_caller();
}

bool commands_take_more(void) { return channel_has_room(reaper_ctl); }

static bool waits_for_end(const struct command *command) {
    return command->number && command->reason && !command->end_asked;
}

bool commands_wait(void) {
    bool waits = on && reaper_ctl >= 0 && !commands_take_more();
    for (size_t i = 0; i < MAX_COMMANDS && !waits; i++)
        waits = waits_for_end(&commands[i]);
    return waits;
}

/* Sends only while the reaper has room, a few at a time: the supervisor must never wait for the reaper, which
 * may be waiting for the supervisor. */
static void ask(const struct message *message, const int *fds, size_t count) {
    if (reaper_ctl >= 0)
        channel_send(reaper_ctl, message, fds, count);
}

static void end(struct command *command, const char *reason) {
    if (!command->reason)
        command->reason = reason;
    if (command->end_asked || !commands_take_more())
        return; /* commands_check asks */
    command->end_asked = true;
    ask(&(struct message){.kind = MSG_END, .command = command->number}, NULL, 0);
}

static void let_go(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool in_foreground(const struct command *but) {
    for (size_t i = 0; i < MAX_COMMANDS; i++)
        if (commands[i].number && !commands[i].background && &commands[i] != but)
            return true;
    return false;
}

/* The caller's requests */

static bool begin(const struct request *request, const int *fds, size_t count) {
    struct command *command = find(0);
    enum { STATUS, CONTROL, RECORDS };
    bool wrong = request->command == 0 || request->command >= UINT64_C(1) << 61 || find(request->command) || count < 3;
    if (wrong || !command) {
        if (count > STATUS) {
            status_to(fds[STATUS]);
            status_prepare(fds[STATUS]);
            emit_failure(wrong ? &(struct failure){EINVAL, "command", "taking what a command was started with"}
                               : &(struct failure){EAGAIN, "commands", "starting one more command in this sandbox"});
            status_to_caller();
        }
        return false;
    }
    *command = (struct command){.number = request->command, .status = fds[STATUS], .control = fds[CONTROL],
                                .background = request->flags & IN_BACKGROUND, .started_us = now_us(),
                                .starved_before = cgroup_kills()};
    limits_command_started(!command->background && !in_foreground(command));
    if (request->wall_ms)
        command->deadline_us = command->started_us + (int64_t)request->wall_ms * 1000;
    used = used || disk_anew(); /* it may have waited, and others written meanwhile */
    fuse_root_anew();
    status_prepare(command->status);
    fcntl(command->control, F_SETFL, O_NONBLOCK);
    struct message message = {.kind = MSG_START, .command = request->command};
    message.start.streams = request->streams;
    message.start.pty = request->flags & WITH_PTY;
    message.start.rows = request->rows;
    message.start.columns = request->columns;
    ask(&message, fds + RECORDS, count - RECORDS);
    for (size_t i = RECORDS; i < count; i++)
        close(fds[i]);
    return true;
}

static void answer(int error, int fd) {
    channel_pass(FD_CONTROL, (char)error, &fd, fd >= 0);
}

static bool read_request(struct request *request, int fds[MAX_PASSED], size_t *count) {
    union {
        char bytes[CMSG_SPACE(sizeof(int) * MAX_PASSED)];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = request, .iov_len = sizeof *request};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got;
    while ((got = recvmsg(FD_CONTROL, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    *count = 0;
    for (struct cmsghdr *c = got >= 0 ? CMSG_FIRSTHDR(&header) : NULL; c; c = CMSG_NXTHDR(&header, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            *count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(fds, CMSG_DATA(c), sizeof(int) * *count);
        }
    return got == (ssize_t)sizeof *request;
}

bool commands_hear(void) {
    struct request request;
    int fds[MAX_PASSED];
    size_t count;
    if (!read_request(&request, fds, &count))
        return false;
    bool kept = false;
    struct message message = {.kind = MSG_SOCKET};
    switch (request.kind) {
    case REQUEST_START:
        kept = begin(&request, fds, count);
        break;
    case REQUEST_SOCKET:
        message.number = request.family;
        ask(&message, NULL, 0);
        break;
    case REQUEST_DIRECTORY:
        message.kind = MSG_DIRECTORY;
        memcpy(message.path, request.path, sizeof message.path);
        ask(&message, NULL, 0);
        break;
    default: /* REQUEST_CLOSE */
        closed = request.kind == REQUEST_CLOSE;
        while (count > 0)
            close(fds[--count]);
        return false;
    }
    while (!kept && count > 0)
        close(fds[--count]);
    return true;
}

/* Messages from the reaper */

static const char *reason_of(const struct command *command, int status) {
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (command->reason)
        return command->reason;
    if (killed && cgroup_kills() > command->starved_before)
        return "memory";
    return command->exec_error ? "exec" : WIFSIGNALED(status) ? "signal" : "exited";
}

static void over(struct command *command, const struct message *message) {
    int status = message->exited.status;
    status_to(command->status);
    refusals_report(command->number);
    status_closing();
    if (!command->failed)
        emit_ended(&(struct ended){
            .reason = reason_of(command, status),
            .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            .exec_error = command->exec_error,
            .wall_us = now_us() - command->started_us,
            .user_us = (int64_t)message->exited.user_us,
            .system_us = (int64_t)message->exited.system_us,
            .peak_bytes = message->exited.peak_bytes,
            .tasks = message->exited.tasks,
        });
    status_to_caller();
    let_go(&command->status);
    let_go(&command->control);
    *command = (struct command){0};
}

static void about_one(struct command *command, const struct message *message, const int *fds, size_t count) {
    switch (message->kind) {
    case MSG_FAILURE:
        command->failed = true;
        status_to(command->status);
        emit_failure(&message->failure);
        status_to_caller();
        break;
    case MSG_EXEC_FAILED:
        command->exec_error = message->error;
        break;
    case MSG_PTY:
        channel_pass(command->control, 'p', fds, count);
        break;
    case MSG_LEFT_RUNNING:
        status_to(command->status);
        left_running_report(&message->left);
        status_to_caller();
        break;
    case MSG_EXITED:
        over(command, message);
        break;
    default:
        break; /* the reaper sends no other */
    }
}

void commands_message(const struct message *message, const int *fds, size_t count) {
    struct command *command = message->command ? find(message->command) : NULL;
    if (message->kind == MSG_SOCKET || message->kind == MSG_DIRECTORY)
        answer(message->number, count ? fds[0] : -1);
    else if (command)
        about_one(command, message, fds, count);
    while (count > 0)
        close(fds[--count]);
}

/* Their control sockets */

static size_t polled; /* slots that the last commands_poll looked at */
static uint16_t slots[MAX_COMMANDS];

size_t commands_poll(struct pollfd *fds, size_t room) {
    polled = 0;
    if (!commands_take_more())
        return 0; /* what they order is for the reaper */
    for (size_t i = 0; i < MAX_COMMANDS && polled < room; i++)
        if (commands[i].number && commands[i].control >= 0) {
            slots[polled] = (uint16_t)i;
            fds[polled++] = (struct pollfd){.fd = commands[i].control, .events = POLLIN};
        }
    return polled;
}

static void set_deadline(struct command *command, const unsigned char *at) {
    uint64_t wall_ms = 0;
    for (int i = 0; i < 8; i++)
        wall_ms |= (uint64_t)at[i] << (8 * i);
    command->started_us = now_us();
    command->deadline_us = wall_ms ? command->started_us + (int64_t)wall_ms * 1000 : 0;
    refusals_forget(command->number);
}

static void obey(struct command *command) {
    enum { BEGIN_BYTES = 9 };
    unsigned char orders[64];
    ssize_t n = read(command->control, orders, sizeof orders);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) { /* the caller has let go of it */
        let_go(&command->control);
        if (!command->background)
            end(command, "caller");
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (orders[i] == ORDER_KILL) {
            end(command, "killed");
        } else if (orders[i] == ORDER_OUTPUT) {
            end(command, "output");
        } else if (orders[i] == ORDER_BEGIN && n - i >= BEGIN_BYTES) {
            set_deadline(command, orders + i + 1);
            i += BEGIN_BYTES - 1;
        } else {
            struct message message = {.kind = orders[i] == ORDER_LISTENING ? MSG_LISTENING : MSG_SIGNAL,
                                      .command = command->number};
            message.number = orders[i];
            if (orders[i] == ORDER_LISTENING || orders[i] < NSIG)
                ask(&message, NULL, 0);
        }
    }
}

void commands_step(const struct pollfd *fds, size_t count) {
    for (size_t i = 0; i < count && i < polled && commands_take_more(); i++) {
        struct command *command = &commands[slots[i]];
        if (fds[i].revents && command->number && command->control == fds[i].fd)
            obey(command);
    }
}

/* Their limits */

int64_t commands_check(int64_t now) {
    int64_t next = 0;
    for (size_t i = 0; i < MAX_COMMANDS; i++) {
        struct command *command = &commands[i];
        if (waits_for_end(command))
            end(command, command->reason);
        if (!command->number || !command->deadline_us || command->reason)
            continue;
        if (now >= command->deadline_us)
            end(command, "time");
        else if (!next || command->deadline_us < next)
            next = command->deadline_us;
    }
    return next;
}

struct weighing {
    int proc;
    bool by_cpu; /* else by memory */
    uint64_t weights[MAX_COMMANDS];
};

/* Resident pages; or ticks of CPU time, with those of the children that it waited for. */
static uint64_t weight_of(const struct weighing *w, const char *pid) {
    enum { UTIME = 11, CSTIME = 14 };
    char text[1024];
    uint64_t field = 0, sum = 0;
    if (read_below(w->proc, pid, w->by_cpu ? "stat" : "statm", text, sizeof text) <= 0)
        return 0;
    const char *at = w->by_cpu ? strrchr(text, ')') : text;
    if (!w->by_cpu)
        return (at = next_number(at, &field)) && next_number(at, &field) ? field + 1 : 0;
    at = at && strlen(at) > 3 ? at + 3 : NULL; /* past ") S" */
    for (int i = 1; i <= CSTIME && at && (at = next_number(at, &field)); i++)
        sum += i >= UTIME ? field : 0;
    return sum + 1;
}

static void weigh(const char *pid, void *context) {
    struct weighing *w = context;
    uint64_t tag = tag_below(w->proc, pid);
    const struct command *command = tag ? find(tag) : NULL;
    if (command)
        w->weights[command - commands] += weight_of(w, pid);
}

bool commands_end_largest(int proc, enum limit limit, uint64_t memory_bytes) {
    struct weighing w = {.proc = proc, .by_cpu = limit == LIMIT_CPU};
    size_t largest = MAX_COMMANDS, much = memory_bytes / 4 / 4096; /* a quarter, in pages */
    each_number(proc, weigh, &w);
    for (size_t i = 0; i < MAX_COMMANDS; i++)
        if (w.weights[i] && !commands[i].reason && (largest == MAX_COMMANDS || w.weights[i] > w.weights[largest]))
            largest = i;
    if (limit == LIMIT_MEMORY && cgroup_out_of_memory()) { /* the kernel has ended one process already */
        cgroup_forgive();
        if (largest == MAX_COMMANDS || w.weights[largest] < much)
            return true; /* and that was the command that took most of it */
    }
    if (largest == MAX_COMMANDS)
        return false;
    end(&commands[largest], limit == LIMIT_CPU ? "cpu" : "memory");
    limits_cpu_anew();
    return true;
}

void commands_lost(const char *reason, bool unkillable) {
    for (size_t i = 0; i < MAX_COMMANDS; i++) {
        struct command *command = &commands[i];
        if (!command->number)
            continue;
        struct message killed = {.kind = MSG_EXITED};
        killed.exited.status = SIGKILL;
        if (unkillable || !command->reason)
            command->reason = unkillable ? "unkillable" : reason;
        over(command, &killed);
    }
}
