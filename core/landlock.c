/* The second wall around files: the same rules as the mounts, enforced again by Landlock. */
#define _GNU_SOURCE
#include "fortify.h"
#include "landlock.h"
#include "fail.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* Own declarations: the headers of the build host may be older than the kernel that runs this. */
struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};
struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));
enum { RULE_PATH_BENEATH = 1 };

/* Rights that make sense on a file; the others are refused with EINVAL there, landlock(7). */
#define FILE_RIGHTS (1ULL << 0 | 1ULL << 1 | 1ULL << 2 | 1ULL << 14 | 1ULL << 15)

#define READING (1ULL << 0 | 1ULL << 2 | 1ULL << 3)
#define MAKING_FILES (1ULL << 8) /* only writable places have a rule of their own */

/* A share that could not be copied is mounted read-only; Landlock gets the same rule. */
static uint64_t as_mounted(int fd, uint64_t access) {
    struct statfs fs;
    bool read_only = (access & MAKING_FILES) && fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
    return read_only ? access & READING : access;
}

static void add_rule(int ruleset, const struct landlock_rule *rule) {
    int fd = open(rule->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        die(errno, "landlock", "opening %s", rule->path);
    struct path_beneath_attr attr = {.allowed_access = as_mounted(fd, rule->access), .parent_fd = fd};
    long added = attr.allowed_access ? syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) : 0;
    if (added < 0 && errno == EINVAL && (attr.allowed_access & ~FILE_RIGHTS)) { /* a file, perhaps */
        attr.allowed_access &= FILE_RIGHTS;
        added = attr.allowed_access ? syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) : 0;
    }
    if (added < 0)
        die(errno, "landlock", "adding a rule for %s", rule->path);
    close(fd);
}

void landlock_scope(uint64_t scoped) {
    struct ruleset_attr attr = {.scoped = scoped};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        die(errno, "landlock", "restricting the guest's surroundings");
    close(ruleset);
}

void restrict_with_landlock(const struct plan *plan) {
    if (!plan->landlock || !WALL_IS_UP(plan, WALL_LANDLOCK))
        return;
    struct ruleset_attr attr = {.handled_access_fs = plan->landlock_fs,
                                .handled_access_net = plan->landlock_net,
                                .scoped = plan->landlock_scoped};
    /* Older kernels know a shorter structure and accept a longer one only if the rest is zero. */
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        die(errno, "landlock", "creating a ruleset");
    for (size_t i = 0; i < plan->rule_count; i++)
        add_rule(ruleset, &plan->rules[i]);
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        die(errno, "landlock", "restricting the guest");
    close(ruleset);
}
