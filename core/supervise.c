/* The supervisor's loop: relays, answers, watches the clock and the limits, forwards signals, and ends the
 * run when its time is up or its caller is gone. notifications.c decides about calls: on registers alone,
 * and, except for three counted calls, never more permissively than the filter. */
#define _GNU_SOURCE
#include "fortify.h"
#include "supervise.h"
#include "bpf.h"
#include "cgroup.h"
#include "channel.h"
#include "commands.h"
#include "connecting.h"
#include "descriptors.h"
#include "discard.h"
#include "disk.h"
#include "ending.h"
#include "fail.h"
#include "fuse_root.h"
#include "inner_sandbox.h"
#include "left_running.h"
#include "limits.h"
#include "monotonic.h"
#include "notifications.h"
#include "place.h"
#include "plan.h"
#include "process_tree.h"
#include "processes.h"
#include "refusals.h"
#include "relay.h"
#include "sockets.h"
#include "signals.h"
#include "status.h"
#include "trace.h"
#include "views.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum { SETUP_MS = 30000, LAST_BYTES_MS = 200, HANGUP_MS = 50, FIRST_WATCH_MS = 10 };
enum { COMMAND_KILL = 255, COMMAND_HOLD = 254, COMMAND_LET_GO = 253 }; /* or the number of a signal */
enum { UNKILLABLE_MS = 20000, LEAVING_MS = 5000 };

struct state {
    struct plan *plan;
    struct supervised *run;
    int signals;
    pid_t guest; /* its pid out here, once it is ready */
    pid_t announced;
    uint64_t early; /* signals that came before: one bit each */
    int64_t started_us, ended_us, kill_at_us, drain_until_us, next_watch_us;
    int64_t next_deadline_us; /* of a command in a living sandbox */
    int64_t killed_us; /* when; a process that hangs in the kernel is waited for UNKILLABLE_MS */
    bool ready, reaped, killed, overran, held; /* the last: its streams, while the caller has the terminal */
    bool starved; /* the kernel killed a process of it for memory */
    const char *reason; /* why we ended it; NULL while we have not */
    bool exited;        /* the guest's own end was reported */
    int status, exec_error;
    uint64_t tasks;
    int not_copied; /* shares that are read-only instead */
    struct rusage usage;
};

static pid_t charge; /* the reaper, until it was waited for; 0 in the reaper itself */

void supervise_from_now(pid_t reaper) { charge = reaper; }

/* A control group can be removed once it is empty: when the reaper has ended, it is. */
void supervise_nothing(void) {
    int64_t until = now_us() + (int64_t)LEAVING_MS * 1000;
    if (charge > 0 && kill(charge, SIGKILL) == 0)
        while (wait4(charge, NULL, __WALL | WNOHANG, NULL) == 0 && now_us() < until)
            poll(NULL, 0, 1);
    if (charge > 0 && tree_watched())
        tree_end(until);
    cgroup_remove();
}

static void end_run(struct state *s, const char *reason) {
    if (!s->reason)
        s->reason = reason;
    if (s->killed || s->reaped)
        return;
    s->killed = true;
    s->killed_us = now_us();
    trace_settle();
    if (s->plan->bare.wanted)
        tree_kill(); /* no namespace ends with the reaper */
    if (syscall(SYS_pidfd_send_signal, s->run->reaper_pidfd, SIGKILL, NULL, 0) < 0)
        kill(s->run->reaper, SIGKILL);
    cgroup_kill();
}

/* Keys pressed at a terminal go to the whole foreground group; what kill(1) sends, to one process. */
static void forward(struct state *s, int signal) {
    if (s->exited || signal <= 0 || signal >= NSIG)
        return;
    pid_t to = s->plan->bare.inner ? inner_command() : s->guest;
    if (to <= 0) {
        s->early |= UINT64_C(1) << (signal - 1);
        return;
    }
    bool group = signal == SIGINT || signal == SIGQUIT || signal == SIGHUP || signal == SIGTSTP ||
                 signal == SIGCONT;
    pid_t leader = s->plan->bare.inner ? (pid_t)syscall(SYS_getpgid, to) : to;
    if (!group || leader <= 0 || kill(-leader, signal) < 0)
        kill(to, signal);
}

/* After the guest's end too: its last bytes may still wait for a slow reader. */
static void stop(struct state *s, const char *reason) {
    if (s->reaped)
        s->drain_until_us = now_us() + LAST_BYTES_MS * 1000;
    else
        end_run(s, reason);
}

static void on_control(struct state *s, short events) {
    if (s->plan->living) {
        if (!(events & POLLIN) || !commands_hear())
            stop(s, commands_closed() ? "closed" : "caller");
        return;
    }
    unsigned char commands[32];
    ssize_t n = events & POLLIN ? read(FD_CONTROL, commands, sizeof commands) : 0;
    if (n <= 0) {
        stop(s, "caller");
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (commands[i] == COMMAND_KILL)
            stop(s, "killed");
        else if (commands[i] == COMMAND_HOLD || commands[i] == COMMAND_LET_GO)
            s->held = commands[i] == COMMAND_HOLD;
        else
            forward(s, commands[i]);
    }
}

/* The caller forwards what it receives, so a key press that reached us too is dropped. */
static void on_signal(struct state *s) {
    struct signalfd_siginfo info;
    if (read(s->signals, &info, sizeof info) != sizeof info)
        return;
    int signal = (int)info.ssi_signo;
    if (signal == SIGWINCH) {
        relay_resize();
    } else if (signal == SIGHUP && info.ssi_code == SI_KERNEL) {
        forward(s, SIGHUP);
        s->kill_at_us = now_us() + HANGUP_MS * 1000;
    } else if (info.ssi_code != SI_KERNEL) {
        end_run(s, "supervisor");
    }
}

/* Counted as in a pid namespace, where the reaper is one of them. */
static uint64_t tasks_seen(const struct plan *plan) {
    uint64_t own = plan->bare.inner ? 2 : 0; /* the program's first process inside, and its one outside */
    return limits_processes() > own ? limits_processes() - own + 1 : 1;
}

/* Another sandbox's command may not have started yet; then this is tried again later. */
static void forward_early(struct state *s) {
    uint64_t early = s->early;
    s->early = 0;
    for (int signal = 1; early && signal < NSIG; signal++)
        if (early & UINT64_C(1) << (signal - 1))
            forward(s, signal);
}

static void on_begun(struct state *s) {
    s->ready = true;
    s->started_us = now_us();
    s->next_watch_us = s->started_us + FIRST_WATCH_MS * 1000;
    forward_early(s);
    if (s->plan->unused_ms)
        emit("{\"event\":\"stands\"}"); /* only such a one is waited for before it has a command */
}

static void on_ready(struct state *s, const struct message *message, pid_t sender, const int *fds, size_t count) {
    s->guest = s->announced ? s->announced : sender;
    sockets_attach(count > (size_t)message->ready.listens ? fds[message->ready.listens] : -1);
    notifications_begin(message->ready.listens && count > 0 ? fds[0] : -1);
    trace_begin(s->plan);
    fuse_root_run();
    processes_begin(s->guest);
    if (s->plan->living)
        commands_begin(s->run->ctl);
    if (!s->plan->bare.inner) /* else its walls go up only now */
        on_begun(s);
}

static void on_message(struct state *s) {
    struct message message;
    int fds[MAX_PASSED];
    size_t count;
    pid_t sender;
    if (!channel_receive(s->run->ctl, &message, fds, &count, &sender)) {
        close(s->run->ctl);
        s->run->ctl = -1;
        commands_without_reaper();
        return;
    }
    if (message.command || message.kind >= MSG_START) {
        commands_message(&message, fds, count);
        return;
    }
    switch (message.kind) {
    case MSG_FAILURE:
        end_run(s, "failed");
        die_again(&message.failure);
    case MSG_FUSE_DEVICE:
    case MSG_FUSE_TOPS:
    case MSG_FUSE_BUILT:
        fuse_root_hear(message.kind, fds, count);
        break;
    case MSG_PROC:
        views_attach(fds, count);
        break;
    case MSG_PTY:
        if (count == 1)
            relay_pty(s->plan, fds[0]);
        break;
    case MSG_READY:
        on_ready(s, &message, sender, fds, count);
        break;
    case MSG_EXEC_FAILED:
        s->exec_error = message.error;
        break;
    case MSG_EXITED:
        s->exited = true;
        s->status = message.exited.status;
        s->tasks = s->plan->bare.wanted ? tasks_seen(s->plan) : message.exited.tasks;
        break;
    case MSG_LEFT_RUNNING:
        left_running_report(&message.left);
        break;
    case MSG_NOT_COPIED:
        s->not_copied++;
        break;
    case MSG_GO: /* the guest; another process reports for it that it is ready */
        s->announced = sender;
        break;
    default: /* only we send it, or it was handled above */
        break;
    }
}

static void on_reaper_gone(struct state *s) {
    if (wait4(s->run->reaper, NULL, __WALL, &s->usage) != s->run->reaper)
        return;
    charge = 0;
    s->reaped = true;
    if (s->plan->bare.wanted && !tree_end(now_us() + (int64_t)UNKILLABLE_MS * 1000))
        s->reaped = false; /* it is "unkillable" then, and over */
    if (!s->reaped && !s->killed)
        s->killed = true;
    s->ended_us = now_us();
    /* Its last messages may still lie in the socket. */
    struct pollfd left = {.fd = s->run->ctl, .events = POLLIN};
    while (s->run->ctl >= 0 && poll(&left, 1, 0) > 0 && (left.revents & POLLIN)) {
        on_message(s);
        left.fd = s->run->ctl;
    }
    if (!s->ready && !s->exited && !s->reason)
        die(0, "reaper", "the guest's first process ended while the walls were going up");
    bool killed = s->exited && WIFSIGNALED(s->status) && WTERMSIG(s->status) == SIGKILL;
    /* Also if we were about to end it for that: its own end came first, and counts. */
    if (cgroup_out_of_memory() || (killed && cgroup_met_limit()))
        s->starved = true;
    if (!s->reason && disk_exceeded(s->plan, -1, false, true))
        s->overran = true; /* it exceeded the limit between two looks; reported, although it ended by itself */
    if (s->killed)
        s->drain_until_us = s->ended_us + LAST_BYTES_MS * 1000;
}

/* Of the run; in a living sandbox each command has its own, and the first must come in time. */
static int64_t deadline_us(const struct state *s) {
    uint64_t most_ms = !s->plan->living ? s->plan->wall_ms : commands_used() ? 0 : s->plan->unused_ms;
    return most_ms ? s->started_us + (int64_t)most_ms * 1000 : 0;
}

static void check_limits(struct state *s) {
    static const char *const names[] = {"", "time", "cpu", "memory", "output", "disk"};
    int64_t now = now_us();
    if (s->kill_at_us && now >= s->kill_at_us)
        end_run(s, "hangup");
    if (!s->ready) {
        if (now - s->started_us >= (int64_t)SETUP_MS * 1000)
            end_run(s, "setup");
        return;
    }
    if (deadline_us(s) && now >= deadline_us(s))
        end_run(s, names[LIMIT_TIME]);
    if (relay_output_exceeded(s->plan->output_bytes))
        end_run(s, names[LIMIT_OUTPUT]);
    s->next_deadline_us = commands_check(now);
    if (s->plan->living && !commands_running() && limits_alone()) {
        s->next_watch_us = 0; /* no process to watch */
        return;
    }
    if (!s->next_watch_us)
        s->next_watch_us = now + FIRST_WATCH_MS * 1000;
    if (now >= s->next_watch_us && !s->exited) {
        int next_ms;
        enum limit struck = limits_check(s->plan, &next_ms);
        s->next_watch_us = limits_next_us(now, next_ms);
        bool of_one = s->plan->living && (struck == LIMIT_MEMORY || struck == LIMIT_CPU);
        if (struck != LIMIT_NONE && !(of_one && commands_end_largest(limits_proc(), struck, s->plan->memory_bytes)))
            end_run(s, names[struck]);
    }
}

static void sooner(int64_t *at, int64_t other) {
    if (other && other < *at)
        *at = other;
}

static int poll_timeout_ms(const struct state *s) {
    int64_t now = now_us(), at = INT64_MAX;
    if (inner_waits() && !s->killed)
        return 0; /* it pauses itself */
    if (s->reaped) {
        sooner(&at, s->drain_until_us);
        if (s->plan->bare.wanted)
            sooner(&at, (now - s->ended_us < LAST_BYTES_MS * 1000 ? s->ended_us : now) + LAST_BYTES_MS * 1000);
    } else if (s->killed) {
        sooner(&at, s->killed_us + (int64_t)UNKILLABLE_MS * 1000);
    } else {
        sooner(&at, s->kill_at_us);
        sooner(&at, s->next_deadline_us);
        sooner(&at, s->ready ? s->next_watch_us : s->started_us + (int64_t)SETUP_MS * 1000);
        sooner(&at, s->ready ? deadline_us(s) : 0);
    }
    if (at == INT64_MAX)
        return -1;
    return at <= now ? 0 : (int)((at - now + 999) / 1000);
}

static bool finished(const struct state *s) {
    if (!s->reaped)
        return s->killed && now_us() - s->killed_us >= (int64_t)UNKILLABLE_MS * 1000;
    if (s->plan->bare.wanted && now_us() - s->ended_us >= LAST_BYTES_MS * 1000)
        relay_give_up(); /* a process outside of the tree may have been passed a pipe */
    return relay_drained() || (s->drain_until_us && now_us() >= s->drain_until_us);
}

enum { POLL_SIGNALS, POLL_PARENT, POLL_REAPER, POLL_CTL, POLL_CONTROL, POLL_LISTENER, POLL_LOOKUPS, POLL_TRACE, POLL_INNER, POLL_CONNECTED, POLL_FIXED };

/* A living sandbox's requests wait until its reaper is ready, and while it is busy. */
static bool hears_caller(const struct state *s) {
    if (s->drain_until_us || (s->killed && !s->reaped))
        return false;
    return !s->plan->living || (s->ready && commands_take_more());
}

static void turn(struct state *s) {
    static struct pollfd fds[POLL_FIXED + 3 + MAX_COMMANDS];
    const struct pollfd fixed[POLL_FIXED] = {
        [POLL_SIGNALS] = {.fd = s->signals, .events = POLLIN},
        [POLL_PARENT] = {.fd = s->killed && !s->reaped ? -1 : s->run->parent_pidfd, .events = POLLIN},
        [POLL_REAPER] = {.fd = s->reaped ? -1 : s->run->reaper_pidfd, .events = POLLIN},
        /* Once the guest runs, last messages are read when the reaper has ended: one wake-up less. */
        [POLL_CTL] = {.fd = s->ready && !s->plan->living ? -1 : s->run->ctl, .events = POLLIN | (commands_wait() ? POLLOUT : 0)},
        [POLL_CONTROL] = {.fd = hears_caller(s) ? FD_CONTROL : -1, .events = POLLIN},
        [POLL_LISTENER] = {.fd = notifications_fd(), .events = POLLIN},
        [POLL_LOOKUPS] = {.fd = fuse_root_fd(), .events = POLLIN},
        [POLL_TRACE] = {.fd = trace_fd(), .events = POLLOUT},
        [POLL_INNER] = {.fd = inner_fd(), .events = POLLIN},
        [POLL_CONNECTED] = {.fd = connecting_fd(), .events = POLLIN},
    };
    memcpy(fds, fixed, sizeof fixed);
    size_t relayed = s->held && !s->reaped ? 0 : relay_poll(fds + POLL_FIXED, 3), running = commands_poll(fds + POLL_FIXED + relayed, MAX_COMMANDS);
    if (poll(fds, POLL_FIXED + relayed + running, poll_timeout_ms(s)) < 0 && errno != EINTR)
        die(errno, "supervisor", "waiting");
    commands_step(fds + POLL_FIXED + relayed, running);
    if (fds[POLL_LISTENER].revents)
        notifications_answer(s->plan, fds[POLL_LISTENER].revents, (const int[URGENT]){s->plan->living ? s->run->ctl : s->run->reaper_pidfd, fuse_root_fd()});
    if (fds[POLL_LOOKUPS].revents)
        fuse_root_answer();
    if (fds[POLL_TRACE].revents)
        trace_flush();
    if (fds[POLL_CTL].revents & ~POLLOUT)
        on_message(s);
    if (fds[POLL_CONNECTED].revents)
        notifications_connected();
    if (fds[POLL_INNER].revents)
        inner_hear();
    if (inner_waits() && !s->killed && inner_let_go(s->plan))
        on_begun(s);
    if (fds[POLL_SIGNALS].revents)
        on_signal(s);
    if (fds[POLL_PARENT].revents) {
        end_run(s, "caller");
        if (s->reaped)
            s->drain_until_us = 1; /* nobody reads any more */
    }
    if (fds[POLL_CONTROL].revents)
        on_control(s, fds[POLL_CONTROL].revents);
    relay_step(fds + POLL_FIXED, relayed);
    if (fds[POLL_REAPER].revents)
        on_reaper_gone(s);
    if (s->ready && s->early)
        forward_early(s);
    if (!s->reaped)
        check_limits(s);
}

/* A killed process closes its descriptors well before it is dead, on a busy machine by many milliseconds: one
 * that closed our socket without a message is given time to die. */
static bool caller_is_dead(const struct state *s, bool leaving) {
    struct pollfd parent = {.fd = s->run->parent_pidfd, .events = POLLIN};
    int64_t until = now_us() + (int64_t)LEAVING_MS * 1000;
    while (leaving && getppid() == s->plan->parent && now_us() < until)
        poll(&parent, 1, 20);
    return getppid() != s->plan->parent;
}

_Noreturn void supervise(struct plan *plan, struct supervised *run) {
    bpf_load(plan);
    if (!plan->trace) /* a trace shows which program is tried first */
        plan_forget(); /* from here on only numbers are needed */
    struct state s = {.plan = plan, .run = run, .started_us = now_us()};
    s.signals = listen_for_signals();
    while (!finished(&s))
        turn(&s);
    relay_restore_terminal();
    commands_lost(s.reason ? s.reason : s.starved ? "memory" : s.overran ? "disk" : "lost", !s.reaped);
    report_end(&(struct ending){
        .reaped = s.reaped, .exited = s.exited, .starved = s.starved, .overran = s.overran,
        .reason = s.reason, .status = s.status, .exec_error = s.exec_error,
        .wall_us = s.ended_us - s.started_us, .tasks = s.tasks, .output_limit = plan->output_bytes,
        .usage = s.usage, .not_copied = s.not_copied,
    });
    bool leaving = control_is_closed(); /* a live caller closes it after the next line */
    close(FD_STATUS);                   /* the caller goes on while we clean up */
    cgroup_remove();
    if (s.reaped && caller_is_dead(&s, leaving))
        discard_tree();
    _exit(0);
}
