/* landlock_restrict_self: the rules put on oneself. */
#define CAPABILITY "syscall_landlock_restrict_self"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct landlock_ruleset_attr files = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                  LANDLOCK_ACCESS_FS_READ_DIR};

static long restrict_self(void) {
    int fd = (int)works(syscall(SYS_landlock_create_ruleset, &files, sizeof files, 0),
                        "landlock_create_ruleset");
    long result = syscall(SYS_landlock_restrict_self, fd, 0);
    int got = errno;
    close(fd);
    errno = got;
    return result;
}

static void give_up_privileges(void) {
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
}

static long list_root(void) {
    int fd = open("/", O_RDONLY | O_DIRECTORY);
    return fd < 0 ? -1 : close(fd);
}

CHECK(takes_away_what_no_rule_allows) {
    works(list_root(), "open / before");
    give_up_privileges();
    works(restrict_self(), "landlock_restrict_self");
    refuses(list_root(), EACCES, "open /");
    works(access("/", F_OK), "access /"); /* which is not handled */
}

CHECK(leaves_what_is_open) {
    char byte;
    int fd = (int)works(open("/dev/zero", O_RDONLY), "open");
    give_up_privileges();
    works(restrict_self(), "landlock_restrict_self");
    works(read(fd, &byte, 1), "read");
}

static void lists_root(void) {
    _exit(list_root() == -1 && errno == EACCES ? 0 : 1);
}

CHECK(is_inherited) {
    give_up_privileges();
    works(restrict_self(), "landlock_restrict_self");
    want(end_of(child_that(lists_root)) == 0, "the child is free of it");
}

CHECK(comes_in_layers_up_to_a_number) {
    int layers = 0;
    give_up_privileges();
    while (layers <= 16 && restrict_self() == 0)
        layers++;
    if (layers == 0)
        blocked("the first layer");
    want(layers <= 16 && errno == E2BIG, "%d layers", layers);
}

CHECK(refuses_what_is_no_set) {
    give_up_privileges();
    refuses(syscall(SYS_landlock_restrict_self, -1, 0), EBADF, "set -1");
    int fd = (int)works(open("/dev/null", O_RDONLY), "open");
    refuses(syscall(SYS_landlock_restrict_self, fd, 0), EBADFD, "a device as set");
}

CHECK(refuses_unknown_flags) {
    give_up_privileges();
    refuses(syscall(SYS_landlock_restrict_self, -1, 1U << 31), EINVAL, "flag 31");
}

CHECKS
