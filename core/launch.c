/* The launcher: reads a plan on descriptor 3, builds the sandbox it describes, runs one command in
 * it, and reports on descriptor 4. It has no policy of its own and takes no arguments.
 *
 * Three processes run this code:
 *   the supervisor  outside, child of the caller: clones, relays, watches, reports
 *   the reaper      pid 1 inside: puts up the walls, then only waits
 *   the guest       its child, until execve
 *
 * A plan without walls of ours (bare.h) has the same three; its reaper is no pid 1. */
#define _GNU_SOURCE
#include "fortify.h"
#include "bare.h"
#include "cgroup.h"
#include "channel.h"
#include "descriptors.h"
#include "discard.h"
#include "fuse_root.h"
#include "host_paths.h"
#include "identity.h"
#include "limits.h"
#include "namespaces.h"
#include "omitted_walls.h"
#include "plan.h"
#include "reaper.h"
#include "relay.h"
#include "rlimits.h"
#include "signals.h"
#include "sources.h"
#include "status.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static void say(int fd, const char *text) {
    if (write(fd, text, strlen(text)) < 0)
        _exit(125);
}

/* Started by hand there is no plan: it prints what it is, and ends. */
static void answer_by_hand(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        say(1, "wardian-launch " WARDIAN_VERSION "\n");
        _exit(0);
    }
    if (fcntl(FD_PLAN, F_GETFD) < 0 || fcntl(FD_STATUS, F_GETFD) < 0) {
        say(2, "wardian-launch is started by wardian, not by hand; try: wardian exec --help\n");
        _exit(125);
    }
}

/* Every run starts from the same settings, whatever the caller's were. */
static void reset_process(void) {
    reset_signals();
    bare_remember(umask(022));
    raise_open_files();
}

static void close_inherited(const struct plan *plan) {
    if (WALL_IS_UP(plan, WALL_CLOSE)) {
        close_others(FD_LAST, plan->bare.kept, plan->bare.kept_count);
        for (int fd = FD_PLAN; fd <= FD_LAST; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    close(FD_PLAN);
}

/* -1 before Linux 5.3; then end of file on the control descriptor shows that the parent has died. */
static int hold_parent(pid_t parent) {
    int fd = (int)syscall(SYS_pidfd_open, parent, 0);
    if (getppid() != parent)
        _exit(125); /* it died before we could look */
    status_while(fd);
    return fd;
}

static void remember_host(const struct plan *plan) {
    if (plan->discard)
        discard_remember(plan->discard);
    if (plan->discard_also)
        discard_remember(plan->discard_also);
    if (plan->home)
        host_home(plan->home);
}

static void leave_session(const struct plan *plan) {
    if (!plan->keep_session && !plan->bare.same_session)
        setsid();
}

/* Only root may open them outside; otherwise the reaper opens them. */
static void prepare_sources(struct plan *plan) {
    if (!caller_is_root())
        return;
    plan->sources_come = can_open_sources(plan);
    if (!plan->sources_come && plan->discard)
        give_to_guest(plan->discard);
}

static void start_reaper(struct plan *plan, struct supervised *run) {
    int ends[2];
    channel_pair(ends);
    run->ctl = ends[0];
    run->reaper = clone_into_namespaces(plan, &run->reaper_pidfd);
    if (run->reaper == 0) {
        close(ends[0]);
        reaper_main(plan, ends[1]);
    }
    close(ends[1]);
    supervise_from_now(run->reaper);
}

/* The reaper and the guest-to-be put up the walls (reaper.c, guest.c) while this goes on. */
static void serve_reaper(struct plan *plan, const struct supervised *run) {
    map_identity(plan, run->reaper);
    give_turn(run->ctl, -1);
    if (plan->sources_come)
        pass_sources(plan, run->ctl);
    cgroup_make(plan, run->ctl);
    if (plan->route_count)
        close(FD_GATEWAY); /* the reaper's from now on */
}

static void start_with_walls(struct plan *plan, struct supervised *run) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1}); /* root can raise a 0, too: see limits.py */
    choose_identity(plan);
    relay_prepare(plan);
    prepare_sources(plan);
    fuse_root_prepare(plan);
    cgroup_prepare(plan);

    start_reaper(plan, run);
    serve_reaper(plan, run);
}

int main(int argc, char **argv) {
    static struct plan plan;
    struct supervised run;

    answer_by_hand(argc, argv);
    reset_process();
    plan_read(&plan, FD_PLAN);
    close_inherited(&plan);
    run.parent_pidfd = hold_parent(plan.parent);
    remember_host(&plan);
    leave_session(&plan);

    if (plan.bare.wanted)
        bare_start(&plan, &run);
    else
        start_with_walls(&plan, &run);
    limits_start(&plan, run.reaper);
    relay_release();
    supervise(&plan, &run);
}
