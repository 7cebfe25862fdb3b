/* A path can be opened without leaving a directory (openat2 with RESOLVE_BENEATH). */
#define CAPABILITY "filesystem_openat2"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
    int usr = open("/usr", O_PATH | O_DIRECTORY);
    if (syscall(SYS_openat2, usr, "bin/env", &how, sizeof how) < 0)
        blocked("openat2 bin/env beneath /usr");
    if (syscall(SYS_openat2, usr, "../usr/bin/env", &how, sizeof how) >= 0)
        faulty("a path that leaves the directory was opened");
    allowed("opened beneath /usr, and not through ..");
}

PROBE(exercise)
