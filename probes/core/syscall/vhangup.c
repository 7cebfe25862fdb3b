/* vhangup: a terminal that is hung up; in a session that has a terminal of its own. */
#define CAPABILITY "syscall_vhangup"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(does_nothing_without_a_terminal) {
    works(setsid(), "setsid");
    works(syscall(SYS_vhangup), "vhangup");
}

CHECK(ends_the_use_of_a_terminal) {
    char byte;
    signal(SIGHUP, SIG_IGN);
    int master = (int)works(posix_openpt(O_RDWR | O_NOCTTY), "posix_openpt");
    want(grantpt(master) == 0 && unlockpt(master) == 0, "unlockpt failed");
    int terminal = (int)works(open(ptsname(master), O_RDWR | O_NOCTTY), "open");
    works(setsid(), "setsid");
    works(ioctl(terminal, TIOCSCTTY, 0), "TIOCSCTTY");
    works(syscall(SYS_vhangup), "vhangup");
    want(read(terminal, &byte, 1) == 0, "it can still be read");
    refuses(write(terminal, "x", 1), EIO, "write");
}

CHECKS
