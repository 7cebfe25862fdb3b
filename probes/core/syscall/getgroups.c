/* getgroups: the supplementary groups. */
#define CAPABILITY "syscall_getgroups"
#include "_runner_c.h"

#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static gid_t groups[65536];

CHECK(agrees_with_proc) {
    char line[4096], *at = NULL;
    int used = 0;
    long count = works(syscall(SYS_getgroups, 65536, groups), "getgroups");
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Groups:", 7) == 0) {
            at = line + 7;
            break;
        }
    want(at != NULL, "/proc says nothing");
    for (long i = 0; i < count && i < 100; i++, at += used) {
        unsigned group;
        want(sscanf(at, "%u%n", &group, &used) == 1 && group == groups[i], "another group");
    }
}

CHECK(reports_how_many_if_asked_for_none) {
    want(works(syscall(SYS_getgroups, 0, NULL), "getgroups 0") ==
             syscall(SYS_getgroups, 65536, groups), "another number");
}

CHECK(reports_what_was_set) {
    gid_t some[] = {7, 1234567, 8};
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to set groups");
    works(setgroups(3, some), "setgroups");
    want(works(syscall(SYS_getgroups, 3, groups), "getgroups") == 3, "not three");
    want(groups[0] + groups[1] + groups[2] == 7 + 1234567 + 8, "other groups");
    refuses(syscall(SYS_getgroups, 2, groups), EINVAL, "room for two");
}

CHECK(refuses_a_negative_size) {
    refuses(syscall(SYS_getgroups, -1, groups), EINVAL, "getgroups -1");
}

CHECKS
