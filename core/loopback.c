/* A new network namespace has one interface, lo, and it is down. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void loopback_up(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die(errno, "network", "opening a socket to bring loopback up");
    struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
    memcpy(request.ifr_name, "lo", 3);
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        die(errno, "network", "bringing loopback up");
    close(fd);
}
