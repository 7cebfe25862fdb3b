/* Supervising a command without walls of our own: no namespaces, no root; identity, limits, Landlock and
 * filter where the plan asks for them. The same three processes as elsewhere (launch.c). In place of a pid
 * namespace, two subreapers hold the tree together: nothing that the command starts can leave it.
 *
 *   the command ends         the reaper ends what it left (process_tree.c), and then itself
 *   the reaper is killed     its children come to the supervisor, which ends them
 *   the supervisor is killed the reaper sees its socket end, and ends everything; one that was stopped is
 *                            continued by the kernel then
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "bare.h"
#include "cgroup.h"
#include "channel.h"
#include "confined.h"
#include "connecting.h"
#include "descriptors.h"
#include "fail.h"
#include "guest.h"
#include "identity.h"
#include "inner_sandbox.h"
#include "landlock.h"
#include "left_running.h"
#include "limits.h"
#include "namespaces.h"
#include "plan.h"
#include "process_tree.h"
#include "relay.h"
#include "rlimits.h"
#include "seccomp.h"
#include "signals.h"
#include "staged_shares.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Settings that the launcher changed for itself; the command gets them back as the caller had them. */
static mode_t own_mask;
static struct rlimit own_core, own_files;

void bare_remember(mode_t callers_mask) {
    own_mask = callers_mask;
    getrlimit(RLIMIT_CORE, &own_core);
    getrlimit(RLIMIT_NOFILE, &own_files);
    setrlimit(RLIMIT_CORE, &(struct rlimit){own_core.rlim_max < 1 ? own_core.rlim_max : 1, own_core.rlim_max});
}

static void restore(void) {
    umask(own_mask);
    setrlimit(RLIMIT_CORE, &own_core);
    setrlimit(RLIMIT_NOFILE, &own_files);
}

/* The command */

static void die_with_reaper(pid_t reaper) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        die(errno, "reaper", "asking to die with the reaper");
    if (getppid() != reaper)
        _exit(125); /* it died before the line above took effect */
}

/* Closes everything except the streams and the descriptors meant for the command; `ctl` closes at its exec. */
static int keep_given(const struct plan *plan, int ctl) {
    int kept[MAX_KEPT + 3];
    size_t count = 0;
    inner_give();
    int high = fcntl(ctl, F_DUPFD_CLOEXEC, FD_BLOCK + 1);
    if (high < 0)
        die(errno, "streams", "closing what is not the command's");
    kept[count++] = high;
    for (int fd = FD_JSON_STATUS; plan->bare.inner && fd <= FD_BLOCK; fd++)
        kept[count++] = fd;
    for (size_t i = 0; i < plan->bare.kept_count; i++) {
        kept[count++] = plan->bare.kept[i];
        if (fcntl(plan->bare.kept[i], F_SETFD, 0) < 0)
            die(errno, "streams", "keeping descriptor %d for the command", plan->bare.kept[i]);
    }
    close_others(2, kept, count);
    fail_to_supervisor(high);
    return high;
}

/* Each wall on its own: one that the plan does not ask for is not put up. */
static int put_up_walls(const struct plan *plan) {
    bool filter = plan->filter_len > 0;
    if ((filter || plan->landlock) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die(errno, "no_new_privs", "setting no_new_privs");
    if (plan->landlock)
        restrict_with_landlock(plan);
    return filter ? install_filter(plan) : -1;
}

static _Noreturn void command_main(struct plan *plan, int ctl, int between, pid_t reaper) {
    cgroup_enter(plan, ctl);
    stage_sources(plan);
    if (!plan->bare.same_session && setsid() < 0)
        die(errno, "session", "starting a session");
    if (!plan->bare.confined)
        restore();
    if (!plan->bare.inner)
        set_rlimits(plan);
    take_streams(plan, between);
    ctl = keep_given(plan, ctl);
    if (plan->bare.confined)
        confined_identity(plan);
    else if (plan->uid)
        take_identity(plan);
    die_with_reaper(reaper); /* after it: a change of identity forgets it */
    if (chdir(plan->cwd) < 0)
        die(errno, "cwd", "changing to the working directory %s in the guest", plan->cwd);
    if (plan->bare.confined) {
        confined_start(plan, ctl);
        start_program(plan, ctl);
    }
    if (!plan->bare.inner)
        limit_open_files(plan);
    announce(ctl, put_up_walls(plan), -1);
    start_program(plan, ctl);
}

/* The reaper */

static _Noreturn void end_everything(void) {
    tree_end(INT64_MAX);
    _exit(0);
}

static void on_children(const struct plan *plan, pid_t command, int ctl) {
    struct message message = {.kind = MSG_EXITED};
    int status;
    for (pid_t pid; (pid = wait4(-1, &status, __WALL | WNOHANG, NULL)) > 0;) {
        if (pid != command)
            continue; /* an orphan of the command's */
        message.exited.status = status;
        channel_send(ctl, &message, NULL, 0);
        if (!plan->bare.inner) { /* other children belong to another sandbox */
            tree_watch((pid_t)syscall(SYS_getpid));
            left_running_send(ctl);
        }
        end_everything();
    }
}

static int hear_of_children(void) {
    sigset_t all, wanted;
    sigfillset(&all);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_SETMASK, &all, NULL);
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        die(errno, "reaper", "listening for signals");
    return fd;
}

static _Noreturn void wait_for_end(const struct plan *plan, pid_t command, int ctl, int children) {
    for (;;) {
        struct pollfd fds[] = {{.fd = children, .events = POLLIN},
                               {.fd = ctl}, /* a message there is not for us */
                               {.fd = connecting_reapers_end(), .events = POLLIN}};
        struct signalfd_siginfo info;
        on_children(plan, command, ctl); /* before the first wait, too */
        poll(fds, 3, -1);
        if (fds[1].revents & (POLLHUP | POLLERR))
            end_everything();
        if (fds[2].revents & POLLIN)
            connecting_serve(plan);
        while (read(children, &info, sizeof info) > 0)
            ;
    }
}

/* PR_SET_PDEATHSIG: the signal at the supervisor's death also continues a reaper that was stopped. */
static void become_reaper(void) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        die(errno, "reaper", "becoming the parent of orphans");
    if (prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0) < 0)
        die(errno, "reaper", "requesting a signal at the supervisor's death");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        die(errno, "reaper", "hiding from the command");
}

static _Noreturn void bare_reaper(struct plan *plan, int ctl) {
    int ends[2];
    fail_to_supervisor(ctl);
    if (!plan->bare.same_session)
        setsid();
    wait_for_turn(ctl);
    become_reaper();
    if (plan->bare.confined)
        confined_reaper(plan);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        die(errno, "reaper", "making a socket to the command");
    pid_t own = (pid_t)syscall(SYS_getpid), command = fork();
    if (command < 0)
        die(errno, "reaper", "starting the command");
    if (command == 0)
        command_main(plan, ctl, ends[1], own);
    hand_streams(plan, ends[0], ctl);
    int children = hear_of_children();
    const int kept[] = {ctl, children, inner_brake(), connecting_reapers_end()};
    close_others(-1, kept, 4);
    plan_forget();
    wait_for_end(plan, command, ctl, children);
}

/* The supervisor */

static bool lists_children(void) {
    char path[64];
    int own = (int)syscall(SYS_getpid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", own, own);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

void bare_start(struct plan *plan, struct supervised *run) {
    int ends[2];
    if (plan->bare.confined)
        confined_check(plan);
    if (!lists_children())
        die(errno, "supervisor", "listing children in /proc (is /proc hidden, or without CONFIG_PROC_CHILDREN?)");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        die(errno, "supervisor", "becoming the parent of orphans");
    relay_prepare(plan);
    inner_prepare(plan);
    cgroup_prepare(plan);
    channel_pair(ends);
    run->ctl = ends[0];
    run->reaper = clone_into_namespaces(plan, &run->reaper_pidfd); /* into none */
    if (run->reaper == 0) {
        close(ends[0]);
        bare_reaper(plan, ends[1]);
    }
    close(ends[1]);
    if (plan->bare.same_session)
        setsid(); /* signals to the command's group must not reach the supervisor */
    supervise_from_now(run->reaper);
    give_turn(run->ctl, -1);
    cgroup_make(plan, run->ctl);
    inner_release();
    tree_watch(run->reaper);
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    limits_attach(&(struct guest_views){proc, -1, {-1, -1, -1}});
    if (plan->bare.confined)
        confined_attach(plan, proc);
}
