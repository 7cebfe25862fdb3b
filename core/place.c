/* Pid 1 of a living sandbox. It goes behind the walls itself, so that every command it forks is behind them
 * from its birth, at no further cost; then it serves the supervisor: starts commands, ends them with all
 * their processes (tags.h), and reports their end.
 *
 * There are no walls between the commands of one sandbox: they are processes of one user. The reaper is
 * protected from them as pid 1 is: none of their signals reach it, kill(2), and they can't read its memory,
 * for it is not dumpable. */
#define _GNU_SOURCE
#include "fortify.h"
#include "place.h"
#include "capabilities.h"
#include "cgroup.h"
#include "channel.h"
#include "command.h"
#include "descriptors.h"
#include "directory.h"
#include "fail.h"
#include "fuse_mount.h"
#include "guest.h"
#include "landlock.h"
#include "left_running.h"
#include "monotonic.h"
#include "names.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "plan.h"
#include "reaper.h"
#include "rlimits.h"
#include "seccomp.h"
#include "sockets.h"
#include "tags.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#endif

struct child {
    pid_t pid;        /* of its first process */
    uint64_t command; /* 0: the slot is free */
    uint64_t tasks_before;
    int status;
    struct rusage usage;
    bool ending, exited;
};

static struct place {
    const struct plan *plan;
    int ctl, gateway, null, loadavg, deaths;
    int work; /* where most commands begin, or -1; by name it may take a lookup in the FUSE root */
    char work_path[64];
    bool limits_later;
    bool alone; /* no process of any command lives */
    struct child children[MAX_COMMANDS];
} place;

/* Processes by command */

struct chase {
    int proc;
    size_t left[MAX_COMMANDS]; /* of each command that has ended, or is to end */
};

static struct child *child_of(uint64_t command) {
    for (size_t i = 0; i < MAX_COMMANDS; i++)
        if (place.children[i].command == command)
            return &place.children[i];
    return NULL;
}

static bool lives(int proc, const char *pid) {
    char text[512];
    return read_below(proc, pid, "stat", text, sizeof text) > 0 && stat_runs(text);
}

/* By pidfd, and only if its tag is still the same: the pid may belong to another process by now. */
static void end_process(int proc, const char *pid, pid_t number, uint64_t command) {
    int fd = (int)syscall(SYS_pidfd_open, number, 0);
    if (tag_below(proc, pid) == command && (fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0) &&
        errno != ESRCH)
        kill(number, SIGKILL);
    if (fd >= 0)
        close(fd);
}

static void chase_one(const char *pid, void *context) {
    struct chase *chase = context;
    uint64_t number, command;
    if (!next_number(pid, &number) || number == 1 || !(command = tag_below(chase->proc, pid)))
        return;
    const struct child *child = child_of(command);
    if (!child || !(child->ending || child->exited) || !lives(chase->proc, pid))
        return;
    chase->left[child - place.children]++;
    if (child->ending)
        end_process(chase->proc, pid, (pid_t)number, command);
}

/* Counts live processes, and kills those of commands that are to end: a killed process makes no more children
 * (process_tree.c), so a few rounds leave none. */
static bool chase_all(struct chase *chase) {
    chase->proc = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the guest's /proc is our directory */
    if (chase->proc < 0)
        return false;
    each_number(chase->proc, chase_one, chase);
    close(chase->proc);
    return true;
}

/* Starting */

static void take_own_streams(const struct message *message, int *fds) {
    size_t next = 0;
    if (message->start.pty) {
        int terminal = open_terminal(place.ctl, message->command, message->start.rows, message->start.columns);
        if (ioctl(terminal, TIOCSCTTY, 0) < 0)
            die(errno, "terminal", "making it the command's controlling terminal");
        for (int i = 0; i < 3; i++)
            dup2(terminal, i);
        return;
    }
    for (int i = 0; i < 3; i++) {
        int from = message->start.streams >> i & 1 ? fds[next++] : place.null;
        if (dup2(from, i) < 0)
            die(errno, "streams", "giving the command its standard streams");
    }
}

static _Noreturn void command_main(const struct message *message, int *fds) {
    struct plan about = *place.plan;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fail_of_command(message->command);
    if (setsid() < 0)
        die(errno, "session", "starting a session");
    tag_self(place.plan, message->command);
    command_read(&about, fds[0]);
    take_own_streams(message, fds + 1);
    int work = strcmp(about.cwd, place.work_path) == 0 ? place.work : -1;
    close_others(2, (const int[]){place.ctl, work}, 2);
    if (place.limits_later)
        set_rlimits(place.plan);
    if (work >= 0 ? fchdir(work) < 0 : chdir(about.cwd) < 0)
        die(errno, "cwd", "changing to the working directory %s in the guest", about.cwd);
    if (place.limits_later)
        limit_open_files(place.plan);
    struct message failed = {.kind = MSG_EXEC_FAILED, .command = message->command};
    failed.error = become_program(&about);
    channel_send(place.ctl, &failed, NULL, 0);
    _exit(127);
}

static void report(const struct child *child) {
    struct message message = {.kind = MSG_EXITED, .command = child->command};
    const struct rusage *usage = &child->usage;
    uint64_t now = reaper_last_pid(place.loadavg);
    message.exited.status = child->status;
    message.exited.tasks = now > child->tasks_before ? now - child->tasks_before : 1;
    message.exited.user_us = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec;
    message.exited.system_us = (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec;
    message.exited.peak_bytes = (uint64_t)usage->ru_maxrss * 1024;
    channel_send(place.ctl, &message, NULL, 0);
}

static void fail_to_start(const struct message *message, int error, const char *wall, const char *what) {
    struct message failed = {.kind = MSG_FAILURE, .command = message->command};
    failed.failure.error = error;
    memcpy(failed.failure.wall, wall, strlen(wall) + 1);
    memcpy(failed.failure.what, what, strlen(what) + 1);
    channel_send(place.ctl, &failed, NULL, 0);
    report(&(struct child){.command = message->command, .status = 125 << 8});
}

static void start(const struct message *message, int *fds, size_t count) {
    struct child *child = child_of(0);
    size_t wanted = 1;
    for (int i = 0; i < 3; i++)
        wanted += message->start.streams >> i & 1;
    if (!child || count != wanted) {
        fail_to_start(message, child ? EINVAL : EAGAIN, "commands", "starting one more command");
        return;
    }
    uint64_t before = reaper_last_pid(place.loadavg);
    pid_t pid = fork();
    if (pid == 0)
        command_main(message, fds);
    if (pid < 0)
        fail_to_start(message, errno, "processes", "starting the command");
    else
        *child = (struct child){.pid = pid, .command = message->command, .tasks_before = before};
}

/* Ending */

static void reap(void) {
    int status;
    struct rusage usage;
    errno = 0;
    for (pid_t pid; (pid = wait4(-1, &status, __WALL | WNOHANG, &usage)) > 0;) {
        left_running_reaped(pid);
        for (size_t i = 0; i < MAX_COMMANDS; i++) {
            struct child *child = &place.children[i];
            if (!child->command || child->exited || child->pid != pid)
                continue; /* else an orphan of some command's */
            child->exited = true;
            child->status = status;
            child->usage = usage;
        }
    }
    place.alone = errno == ECHILD; /* orphans have become our children, pid_namespaces(7) */
}

static bool is_settled(const struct child *child) { return !child->command || !(child->exited || child->ending); }

static bool all_are_settled(void) {
    for (size_t i = 0; i < MAX_COMMANDS; i++)
        if (!is_settled(&place.children[i]))
            return false;
    return true;
}

/* A command that is ended by us has ended when no process of it is left; what one leaves behind at its own
 * end lives on. */
static void settle(void) {
    static struct chase chase;
    chase = (struct chase){0};
    if (all_are_settled() || (!place.alone && !chase_all(&chase)))
        return;
    for (size_t i = 0; i < MAX_COMMANDS; i++) {
        struct child *child = &place.children[i];
        if (is_settled(child))
            continue;
        if (!child->exited)
            kill(child->pid, SIGKILL); /* another command may have stopped it before it had its tag */
        if (!child->exited || (child->ending && chase.left[i]))
            continue;
        if (chase.left[i])
            left_running_of(place.ctl, child->command, chase.left[i]);
        report(child);
        *child = (struct child){0};
    }
}

/* Keys pressed at a terminal go to the whole foreground group; what kill(1) sends, to one process. */
static void send_signal(const struct message *message) {
    const struct child *child = child_of(message->command);
    if (!child || child->exited)
        return;
    bool group = message->number == SIGINT || message->number == SIGQUIT || message->number == SIGHUP ||
                 message->number == SIGTSTP || message->number == SIGCONT;
    if (!group || kill(-child->pid, message->number) < 0)
        kill(child->pid, message->number);
}

/* Requests of the supervisor */

static void answer(const struct message *asked, int fd) {
    struct message message = {.kind = asked->kind};
    message.number = fd < 0 ? errno : 0;
    channel_send(place.ctl, &message, &fd, fd >= 0);
    if (fd >= 0)
        close(fd);
}

static void on_request(void) {
    struct message message;
    int fds[MAX_PASSED];
    size_t count;
    pid_t sender;
    if (!channel_receive(place.ctl, &message, fds, &count, &sender))
        _exit(125); /* the supervisor is gone */
    struct child *child = message.command ? child_of(message.command) : NULL;
    switch (message.kind) {
    case MSG_START:
        start(&message, fds, count);
        break;
    case MSG_END:
        if (child)
            child->ending = true;
        break;
    case MSG_SIGNAL:
        send_signal(&message);
        break;
    case MSG_LISTENING:
        left_running_asked(place.ctl, message.command);
        break;
    case MSG_SOCKET:
        answer(&message, socket(message.number, SOCK_STREAM | SOCK_CLOEXEC, 0));
        break;
    case MSG_DIRECTORY:
        message.path[sizeof message.path - 1] = '\0';
        answer(&message, open(message.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        break;
    default:
        break; /* the supervisor sends no other */
    }
    while (count > 0)
        close(fds[--count]);
}

static _Noreturn void serve(void) {
    enum { AT_ONCE = 64, LATE_MS = 100 }; /* requests first, then commands that ended */
    struct signalfd_siginfo info;
    for (;;) {
        struct pollfd fds[] = {{.fd = place.ctl, .events = POLLIN},
                               {.fd = place.deaths, .events = POLLIN},
                               {.fd = place.gateway, .events = POLLIN}};
        if (poll(fds, 3, !all_are_settled() ? 1 : left_running_reads() ? LATE_MS : -1) < 0 && errno != EINTR)
            _exit(125);
        if (fds[1].revents)
            while (read(place.deaths, &info, sizeof info) > 0)
                ;
        if (fds[2].revents && !names_serve(place.gateway))
            place.gateway = -1; /* nobody asks any more */
        for (int more = AT_ONCE; fds[0].revents && more; more = poll(fds, 1, 0) > 0 ? more - 1 : 0)
            on_request();
        reap();
        settle();
    }
}

/* Going behind the walls */

static int raised(int fd) {
    enum { CLEAR_OF_STREAMS = 16 };
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CLEAR_OF_STREAMS);
    if (fd >= 0 && high < 0)
        die(errno, "streams", "keeping a descriptor of the reaper's");
    return high;
}

static int open_work(const struct plan *plan) {
    if (!plan->cwd || strlen(plan->cwd) >= sizeof place.work_path)
        return -1;
    memcpy(place.work_path, plan->cwd, strlen(plan->cwd) + 1);
    return open(plan->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A command's descriptors take the numbers from 0 on, so the reaper occupies those. */
static void keep_descriptors(int ctl, int *diag) {
    place.null = raised(open("/dev/null", O_RDWR | O_CLOEXEC));
    place.loadavg = raised(open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
    place.deaths = raised(reaper_open_deaths());
    place.gateway = raised(place.plan->route_count ? FD_GATEWAY : -1);
    place.ctl = raised(ctl);
    *diag = raised(place.plan->own_network && WALL_IS_UP(place.plan, WALL_NETWORK) ? sockets_diag() : -1);
    place.work = raised(open_work(place.plan));
    if (place.null < 0 || place.loadavg < 0 || place.deaths < 0)
        die(errno, "proc", "opening what a living sandbox needs: /dev/null and a /proc of its own");
    for (int fd = 0; fd < 3; fd++)
        dup2(place.null, fd);
    const int kept[] = {place.null, place.loadavg, place.deaths, place.gateway, place.ctl, *diag, place.work};
    close_others(2, kept, sizeof kept / sizeof *kept);
    fail_to_supervisor(place.ctl);
}

static void await_builder(pid_t builder) {
    int status;
    while (wait4(builder, &status, __WALL, NULL) < 0)
        if (errno != EINTR)
            die(errno, "proc", "waiting until /proc is masked");
    if (status != 0)
        _exit(125); /* it failed, and has said so */
}

_Noreturn void place_main(struct plan *plan, int ctl, pid_t builder) {
    int diag;
    place.plan = plan;
    await_builder(builder);
    cgroup_enter(plan, ctl);
    drop_capabilities(plan);
    forget_session_keyring(plan);
    if (!WALL_IS_UP(plan, WALL_DUMPABLE))
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    keep_descriptors(ctl, &diag);
    restrict_with_landlock(plan);
    fuse_mount_built(plan, place.ctl);
    place.limits_later = may_limit_later(plan);
    if (!place.limits_later) { /* the filter refuses what sets limits: then they are ours as well */
        set_rlimits(plan);
        limit_open_files(plan);
    }
    int listener = install_filter(plan);
    announce(place.ctl, listener, diag);
    if (listener >= 0)
        close(listener);
    if (diag >= 0)
        close(diag);
    plan_forget();
    serve();
}
