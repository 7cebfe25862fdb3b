/* landlock_add_rule: rules of what stays allowed. */
#define CAPABILITY "syscall_landlock_add_rule"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct landlock_ruleset_attr files = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                  LANDLOCK_ACCESS_FS_READ_DIR};

static int ruleset;

static long add(const char *path, unsigned long access) {
    struct landlock_path_beneath_attr rule = {.allowed_access = access,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void create(void) {
    ruleset = (int)works(syscall(SYS_landlock_create_ruleset, &files, sizeof files, 0),
                         "landlock_create_ruleset");
}

CHECK(leaves_allowed_what_lies_below) {
    create();
    works(add("/usr", LANDLOCK_ACCESS_FS_READ_DIR), "landlock_add_rule");
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    works(syscall(SYS_landlock_restrict_self, ruleset, 0), "landlock_restrict_self");
    works(open("/usr/bin", O_RDONLY | O_DIRECTORY), "open /usr/bin");
    refuses(open("/proc", O_RDONLY | O_DIRECTORY), EACCES, "open /proc");
}

CHECK(adds_rights_to_a_rule_that_is_there) {
    create();
    works(add("/usr", LANDLOCK_ACCESS_FS_READ_DIR), "a rule");
    works(add("/usr", LANDLOCK_ACCESS_FS_READ_FILE), "another rule");
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    works(syscall(SYS_landlock_restrict_self, ruleset, 0), "landlock_restrict_self");
    works(open("/usr/bin", O_RDONLY | O_DIRECTORY), "open /usr/bin");
    works(open("/usr/bin/env", O_RDONLY), "open /usr/bin/env");
}

CHECK(refuses_rights_that_the_set_does_not_handle) {
    create();
    refuses(add("/usr", LANDLOCK_ACCESS_FS_EXECUTE), EINVAL, "the right to execute");
}

CHECK(refuses_a_rule_of_nothing) {
    create();
    refuses(add("/usr", 0), ENOMSG, "no rights");
}

CHECK(refuses_rights_of_directories_for_a_file) {
    create();
    refuses(add("/dev/null", LANDLOCK_ACCESS_FS_READ_DIR), EINVAL, "listing a file");
}

CHECK(refuses_what_is_no_path) {
    create();
    refuses(add("/nowhere/at/all", LANDLOCK_ACCESS_FS_READ_FILE), EBADF, "descriptor -1");
}

CHECK(refuses_what_is_no_set) {
    ruleset = -1;
    refuses(add("/usr", LANDLOCK_ACCESS_FS_READ_FILE), EBADF, "set -1");
    ruleset = (int)works(open("/dev/null", O_RDONLY), "open");
    refuses(add("/usr", LANDLOCK_ACCESS_FS_READ_FILE), EBADFD, "a device as set");
}

CHECK(refuses_an_unknown_kind_and_flags) {
    char rule[64] = {0};
    create();
    refuses(syscall(SYS_landlock_add_rule, ruleset, 99, rule, 0), EINVAL, "kind 99");
    refuses(syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 1U << 31),
            EINVAL, "flag 31");
}

CHECK(refuses_a_bad_address) {
    create();
    refuses(syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, 8, 0), EFAULT,
            "address 8");
}

CHECKS
