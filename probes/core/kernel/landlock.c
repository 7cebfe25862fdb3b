/* A program can give up files by itself (Landlock). */
#define CAPABILITY "kernel_landlock"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void confine(void) {
    struct landlock_ruleset_attr reading = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
    long rules = syscall(SYS_landlock_create_ruleset, &reading, sizeof reading, 0);
    if (rules < 0)
        blocked("landlock_create_ruleset");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, rules, 0))
        blocked("landlock_restrict_self");
    if (open("/usr/bin/env", O_RDONLY) >= 0)
        faulty("the rules do not hold");
    allowed("gave up reading files");
}

static void exercise(void) {
    in_child(confine);
}

PROBE(exercise)
