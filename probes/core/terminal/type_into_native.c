/* Keys can be typed into a terminal by a request number with high bits set (TIOCSTI). */
#define CAPABILITY "terminal_type_into"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void type(void) {
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof name) || setsid() < 0)
        faulty("no terminal");
    int slave = open(name, O_RDWR); /* becomes the controlling terminal */
    if (slave < 0)
        faulty("open %s", name);
    /* The kernel looks at 32 bits of the number, a careless filter at 64. */
    if (syscall(SYS_ioctl, slave, 0xffffffff00000000UL | TIOCSTI, "x") < 0)
        blocked("TIOCSTI with high bits");
    allowed("typed into its own terminal");
}

static void exercise(void) {
    in_child(type);
}

PROBE(exercise)
