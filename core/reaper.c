/* Pid 1 inside: puts up the walls, starts the guest, and from then on only waits. */
#define _GNU_SOURCE
#include "fortify.h"
#include "reaper.h"
#include "capabilities.h"
#include "channel.h"
#include "descriptors.h"
#include "fail.h"
#include "fuse_mount.h"
#include "guest.h"
#include "identity.h"
#include "left_running.h"
#include "names.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "place.h"
#include "plan.h"
#include "root.h"
#include "seccomp.h"
#include "signals.h"
#include "sources.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel kills the whole pid namespace with us, so this one signal ends every process. */
static void die_with_supervisor(const struct plan *plan, int ctl) {
    if (!WALL_IS_UP(plan, WALL_DEATH))
        return;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        die(errno, "reaper", "asking to die with the supervisor");
    struct pollfd gone = {.fd = ctl, .events = POLLIN};
    if (poll(&gone, 1, 0) > 0 && (gone.revents & (POLLHUP | POLLERR)))
        _exit(125); /* it died before the line above took effect */
}

/* The newest pid in this namespace: an upper bound of how many tasks the run made. */
uint64_t reaper_last_pid(int loadavg) {
    char text[128];
    ssize_t n = loadavg < 0 ? -1 : pread(loadavg, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *space = strrchr(text, ' ');
    uint64_t pid;
    return space && next_number(space + 1, &pid) ? pid : 0;
}

/* Wakes a poll when a child ends. */
int reaper_open_deaths(void) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Serves the gateway of a network by name until a child may have ended. */
static void serve_gateway(int *gateway, int deaths) {
    struct pollfd ready[] = {{.fd = deaths, .events = POLLIN}, {.fd = *gateway, .events = POLLIN}};
    struct signalfd_siginfo info;
    while (poll(ready, 2, -1) >= 0 && !ready[0].revents)
        if (ready[1].revents && !names_serve(*gateway))
            ready[1].fd = *gateway = -1; /* nobody asks any more */
    while (read(deaths, &info, sizeof info) > 0)
        ;
}

static _Noreturn void wait_for_all(pid_t guest, uint64_t own_tasks, int ctl, int loadavg, int gateway) {
    struct message message = {.kind = MSG_EXITED};
    int deaths = gateway < 0 ? -1 : reaper_open_deaths();
    for (;;) {
        int status;
        pid_t pid = wait4(-1, &status, __WALL | (deaths < 0 ? 0 : WNOHANG), NULL);
        if (pid == 0)
            serve_gateway(&gateway, deaths);
        if (pid != guest)
            continue; /* an orphan of the guest's, or EINTR */
        message.exited.status = status;
        message.exited.tasks = reaper_last_pid(loadavg);
        message.exited.tasks -= message.exited.tasks > own_tasks ? own_tasks : 0;
        channel_send(ctl, &message, NULL, 0);
        left_running_send(ctl);
        _exit(0); /* everything that the guest left running ends with us */
    }
}

/* The guest is forked early, so that it can set up its network while we build its root; pivot_root moves it
 * along, because it shares our root. */
static pid_t start_guest(struct plan *plan, int ctl, int *between) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        die(errno, "reaper", "making a socket to the guest");
    pid_t guest = fork();
    if (guest < 0)
        die(errno, "reaper", "starting the guest");
    if (guest == 0) {
        close(ends[0]);
        fuse_mount_forget();
        guest_main(plan, ctl, ends[1]);
    }
    close(ends[1]);
    *between = ends[0];
    return guest;
}

_Noreturn void reaper_main(struct plan *plan, int ctl) {
    int between;
    fail_to_supervisor(ctl);
    if (plan->keep_session)
        setsid(); /* leaves the terminal's session, where the supervisor stays in it: 40 µs */
    limit_capabilities(plan); /* while the supervisor maps our ids; the guest inherits it */
    wait_for_turn(ctl);
    if (caller_is_root() && !plan->sources_come) { /* as root while we are still root */
        open_sources(plan, false);
        plan->sources_open = true;
    }
    fuse_mount_open(plan); /* while we still have the capability */
    take_identity(plan);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        die(errno, "reaper", "hiding from the guest");
    die_with_supervisor(plan, ctl);
    if (WALL_IS_UP(plan, WALL_UTS) && sethostname(plan->hostname, strlen(plan->hostname)) < 0)
        die(errno, "namespaces", "setting the host name");
    pid_t guest = start_guest(plan, ctl, &between);
    if (!plan->sources_open && !plan->sources_come)
        open_sources(plan, false);
    build_root(plan, ctl, between);
    if (plan->living)
        place_main(plan, ctl, guest);
    int loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    drop_capabilities(plan);
    give_turn(between, -1);
    if (!WALL_IS_UP(plan, WALL_DUMPABLE))
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (loadavg >= 0 && loadavg != 0)
        loadavg = dup2(loadavg, 0);
    if (ctl != 1)
        ctl = dup2(ctl, 1);
    int gateway = plan->route_count ? dup2(FD_GATEWAY, 2) : -1;
    close_all_but(gateway < 0 ? 1 : 2);
    fail_to_supervisor(ctl);
    plan_forget();
    wait_for_all(guest, every_call_is_watched(plan), ctl, loadavg, gateway);
}
