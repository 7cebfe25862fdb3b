/* The last steps before the guest's own program: session, streams, limits, Landlock, filter, exec. */
#define _GNU_SOURCE
#include "fortify.h"
#include "guest.h"
#include "bpf.h"
#include "capabilities.h"
#include "cgroup.h"
#include "channel.h"
#include "descriptors.h"
#include "fail.h"
#include "fuse_mount.h"
#include "guest_proc.h"
#include "landlock.h"
#include "network.h"
#include "omitted_walls.h"
#include "plan.h"
#include "program.h"
#include "relay.h"
#include "rlimits.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The reaper opens the streams, because the guest's opens may already be watched. */

int open_terminal(int ctl, uint64_t command, uint16_t rows, uint16_t columns) {
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    int unlock = 0, number = 0;
    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 || ioctl(master, TIOCGPTN, &number) < 0)
        die(errno, "terminal", "opening a terminal for the guest");
    char path[32];
    snprintf(path, sizeof path, "/dev/pts/%d", number);
    int slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        die(errno, "terminal", "opening a terminal for the guest");
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    if (rows && columns)
        ioctl(master, TIOCSWINSZ, &size);
    struct message message = {.kind = MSG_PTY, .command = command};
    channel_send(ctl, &message, &master, 1);
    close(master);
    return slave;
}

static bool needs_nothing(const struct plan *plan) {
    for (int i = 0; i < 3; i++)
        if (plan->streams[i].kind == STREAM_NULL)
            return true;
    return false;
}

static void hand(int guest, int fd) {
    give_turn(guest, fd);
    if (fd >= 0)
        close(fd);
}

void hand_streams(const struct plan *plan, int guest, int ctl) {
    if (plan->living)
        return; /* each command brings its own */
    int nothing = needs_nothing(plan) ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (needs_nothing(plan) && nothing < 0)
        die(errno, "streams", "opening /dev/null in the guest");
    hand(guest, nothing);
    if (plan->pty)
        hand(guest, open_terminal(ctl, 0, 0, 0));
}

/* Waits for the streams, which the reaper sends from the new root. */
void take_streams(const struct plan *plan, int reaper) {
    int nothing = wait_for_turn(reaper), terminal = plan->pty ? wait_for_turn(reaper) : -1;
    if (terminal >= 0 && (!plan->bare.wanted || plan->bare.confined) && ioctl(terminal, TIOCSCTTY, 0) < 0)
        die(errno, "terminal", "making it the guest's controlling terminal");
    for (int i = 0; i < 3; i++) {
        enum stream_kind kind = plan->streams[i].kind;
        int fd = kind == STREAM_PTY ? terminal : kind == STREAM_NULL ? nothing : relay_guest_end(i);
        if (fd < 0 || dup2(fd, i) < 0)
            die(errno, "streams", "giving the guest its standard streams");
    }
}

/* Closes everything but the streams and descriptors still needed, which move to the lowest numbers: the guest
 * may have a low limit of open files. */
static void keep_only(int *ctl, int *reaper, int *listener, int *diag) {
    int *const kept[] = {ctl, reaper, listener, diag};
    enum { KEPT = sizeof kept / sizeof *kept };
    int next = 3;
    for (size_t i = 0; i < KEPT; i++) {
        if (*kept[i] < 0)
            continue;
        for (size_t later = i + 1; later < KEPT; later++) /* moves it, if it has that number */
            if (*kept[later] == next && (*kept[later] = fcntl(next, F_DUPFD_CLOEXEC, next + KEPT)) < 0)
                die(errno, "streams", "closing what is not the guest's");
        if (*kept[i] != next && dup2(*kept[i], next) < 0)
            die(errno, "streams", "closing what is not the guest's");
        fcntl(next, F_SETFD, FD_CLOEXEC);
        *kept[i] = next++;
    }
    close_all_but(next - 1);
    fail_to_supervisor(*ctl);
}

/* Can a limit still be set once the filter is installed? */
bool may_limit_later(const struct plan *plan) {
#if defined(__x86_64__)
    const uint32_t arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const uint32_t arch = AUDIT_ARCH_AARCH64;
#else
    const uint32_t arch = 0;
#endif
    struct seccomp_data call = {.nr = SYS_prlimit64, .arch = arch, .args = {0, RLIMIT_NOFILE, 1, 0}};
    bpf_load(plan);
    return plan->notify && bpf_verdict(&call) == 0;
}

void announce(int ctl, int listener, int diag) {
    struct message ready = {.kind = MSG_READY};
    int views[2];
    size_t count = 0;
    ready.ready.listens = listener >= 0;
    if (listener >= 0)
        views[count++] = listener;
    if (diag >= 0)
        views[count++] = diag;
    channel_send(ctl, &ready, views, count); /* closed by execve: close may be watched */
}

/* Every call of ours would now wait for the supervisor, which does not have the listener yet. So a sibling
 * without the filter, which shares our descriptors, sends it. The message before shows the supervisor which
 * process the guest is. */
void announce_by_sibling(const struct plan *plan, int ctl, int diag) {
    volatile int *listener = mmap(NULL, sizeof *listener, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (listener == MAP_FAILED)
        die(errno, "notify", "making room for the listener");
    *listener = 0;
    give_turn(ctl, -1);
    long sibling = syscall(SYS_clone, (long)(CLONE_FILES | CLONE_PARENT | SIGCHLD), 0L, 0L, 0L, 0L);
    if (sibling < 0)
        die(errno, "notify", "starting who hands the listener over");
    if (sibling == 0) {
        while (!*listener)
            poll(NULL, 0, 1);
        announce(ctl, *listener, diag);
        _exit(0);
    }
    int made = install_filter(plan);
    *listener = made >= 0 ? made : -1;
}

_Noreturn void start_program(const struct plan *plan, int ctl) {
    struct message failed = {.kind = MSG_EXEC_FAILED};
    failed.error = become_program(plan);
    channel_send(ctl, &failed, NULL, 0);
    _exit(127);
}

_Noreturn void guest_main(struct plan *plan, int ctl, int reaper) {
    int listener = -1, diag = -1;
    give_turn(reaper, own_network(plan, &diag));
    fill_proc(plan, reaper);
    if (plan->living)
        _exit(0); /* the reaper goes on: place.c */
    cgroup_enter(plan, ctl);
    drop_capabilities(plan);
    if (WALL_IS_UP(plan, WALL_SESSION) && setsid() < 0)
        die(errno, "session", "starting a session");
    forget_session_keyring(plan);
    set_rlimits(plan);
    if (plan->early_filter) /* while the root is being built; later the guest would wait for it */
        listener = install_filter(plan);
    take_streams(plan, reaper);
    if (WALL_IS_UP(plan, WALL_CLOSE))
        keep_only(&ctl, &reaper, &listener, &diag);
    if (chdir(plan->cwd) < 0)
        die(errno, "cwd", "changing to the working directory %s in the guest", plan->cwd);
    restrict_with_landlock(plan);
    fuse_mount_built(plan, ctl);
    wait_for_turn(reaper); /* waits until the old root is unmounted */
    bool late = plan->early_filter || may_limit_later(plan);
    if (!late) /* the filter refuses what sets limits */
        limit_open_files(plan);
    if (every_call_is_watched(plan))
        announce_by_sibling(plan, ctl, diag);
    else
        announce(ctl, plan->early_filter ? listener : install_filter(plan), diag);
    if (late) /* last: passing descriptors counts against this limit, too */
        limit_open_files(plan);
    start_program(plan, ctl);
}
