/* landlock_create_ruleset: a set of rules for oneself. */
#define CAPABILITY "syscall_landlock_create_ruleset"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct landlock_ruleset_attr files = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                  LANDLOCK_ACCESS_FS_READ_DIR};

static long create(const void *rules, size_t size, unsigned flags) {
    return syscall(SYS_landlock_create_ruleset, rules, size, flags);
}

CHECK(reports_the_version) {
    want(works(create(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION), "the version") >= 1, "none");
}

CHECK(gives_a_descriptor_that_exec_closes) {
    int fd = (int)works(create(&files, sizeof files, 0), "landlock_create_ruleset");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "it does not");
}

CHECK(makes_what_rules_can_be_added_to) {
    int fd = (int)works(create(&files, sizeof files, 0), "landlock_create_ruleset");
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
                                              .parent_fd = open("/usr", O_PATH)};
    works(syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0), "a rule");
}

CHECK(refuses_a_set_that_handles_nothing) {
    files.handled_access_fs = 0;
    refuses(create(&files, sizeof files, 0), ENOMSG, "an empty set");
}

CHECK(refuses_rights_it_does_not_know) {
    files.handled_access_fs = 1ULL << 63;
    refuses(create(&files, sizeof files, 0), EINVAL, "right 63");
}

CHECK(refuses_a_longer_structure_that_says_more) {
    char longer[256] = {[255] = 1};
    refuses(create(longer, sizeof longer, 0), E2BIG, "256 bytes");
}

CHECK(refuses_a_short_structure) {
    refuses(create(&files, 4, 0), EINVAL, "4 bytes");
}

CHECK(refuses_unknown_flags) {
    refuses(create(NULL, 0, 1U << 31), EINVAL, "flag 31");
}

CHECK(refuses_a_bad_address) {
    refuses(create((void *)8, sizeof files, 0), EFAULT, "address 8");
}

CHECKS
