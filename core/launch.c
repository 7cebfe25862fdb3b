/* The launcher: reads a plan on descriptor 3, builds the sandbox it describes, runs one command in
 * it, and reports on descriptor 4. It has no policy of its own and takes no arguments. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
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

static void keep_out_of_the_guest(void) {
    for (int fd = FD_PLAN; fd <= FD_LAST; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* -1 before Linux 5.3; then the control descriptor's end of file tells of the parent's death. */
static int hold_parent(pid_t parent) {
    int fd = (int)syscall(SYS_pidfd_open, parent, 0);
    if (getppid() != parent)
        _exit(125); /* it died before we could look */
    return fd;
}

static void let_go(const struct plan *plan, const struct supervised *run) {
    map_identity(plan, run->reaper);
    give_turn(run->ctl, -1);
}

static void walled_start(struct plan *plan, struct supervised *run) {
    int ends[2];
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1}); /* root can raise a 0, too: see plan.py */
    choose_identity(plan);
    relay_prepare(plan);
    plan->sources_come = caller_is_root() && can_open_sources(plan);
    if (caller_is_root() && !plan->sources_come && plan->discard)
        give_to_guest(plan->discard);
    lookups_prepare(plan);
    cgroup_prepare(plan);
    channel_pair(ends);
    run->ctl = ends[0];
    run->reaper = clone_into_namespaces(plan, &run->reaper_pidfd);
    if (run->reaper == 0) {
        close(ends[0]);
        reaper_main(plan, ends[1]);
    }
    close(ends[1]);
    supervise_from_now(run->reaper);
    let_go(plan, run);
    if (plan->sources_come)
        pass_sources(plan, run->ctl);
    cgroup_make(plan, run->ctl);
}

int main(int argc, char **argv) {
    static struct plan plan;
    struct supervised run;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        say(1, "wardian-launch " WARDIAN_VERSION "\n");
        return 0;
    }
    if (fcntl(FD_PLAN, F_GETFD) < 0 || fcntl(FD_STATUS, F_GETFD) < 0) {
        say(2, "wardian-launch is started by wardian, not by hand; try: wardian exec --help\n");
        return 125;
    }
    reset_signals();
    bare_remember(umask(022));
    raise_open_files();
    plan_read(&plan, FD_PLAN);
    if (WALL_IS_UP(&plan, WALL_CLOSE)) {
        close_others(FD_LAST, plan.bare.kept, plan.bare.kept_count);
        keep_out_of_the_guest();
    }
    close(FD_PLAN);
    run.parent_pidfd = hold_parent(plan.parent);
    report_while(run.parent_pidfd);
    if (plan.discard)
        discard_remember(plan.discard);
    if (plan.discard_also)
        discard_remember(plan.discard_also);
    if (plan.home)
        refusals_home(plan.home);
    if (!plan.keep_session && !plan.bare.same_session)
        setsid();
    if (plan.bare.wanted)
        bare_start(&plan, &run);
    else
        walled_start(&plan, &run);
    watch_start(&plan, run.reaper);
    relay_release();
    supervise(&plan, &run);
}
