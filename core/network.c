/* A network namespace of the guest's own. It is the most expensive namespace, so the guest-to-be makes it
 * while the reaper mounts; the reaper then joins it, because /proc/1/net shows the reaper's own. */
#define _GNU_SOURCE
#include "fortify.h"
#include "network.h"
#include "fail.h"
#include "interface.h"
#include "names.h"
#include "omitted_walls.h"
#include "plan.h"
#include "sockets.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool wanted(const struct plan *plan) {
    return plan->own_network && WALL_IS_UP(plan, WALL_NETWORK);
}

/* Brings up lo, its only interface. Returns the namespace, for the reaper; or -1. `diag`: a socket through
 * which the supervisor queries the sockets in it. */
int own_network(const struct plan *plan, int *diag) {
    if (!wanted(plan))
        return -1;
    if (syscall(SYS_unshare, CLONE_NEWNET) < 0)
        die(errno, "network", "creating a network namespace");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die(errno, "network", "opening a socket to bring loopback up");
    struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
    memcpy(request.ifr_name, "lo", 3);
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        die(errno, "network", "bringing loopback up");
    int namespace = ioctl(fd, SIOCGSKNS);
    if (namespace < 0)
        die(errno, "network", "naming the network namespace");
    close(fd);
    make_interface(plan);
    names_begin(plan);
    *diag = sockets_diag();
    return namespace;
}

void join_network(const struct plan *plan, int namespace) {
    if (!wanted(plan))
        return;
    if (syscall(SYS_setns, namespace, CLONE_NEWNET) < 0)
        die(errno, "network", "joining the guest's network namespace");
    close(namespace);
}
