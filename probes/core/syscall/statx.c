/* statx: chosen facts of a file. */
#define CAPABILITY "syscall_statx"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct statx facts;

static long ask(const char *path, int flags, unsigned mask) {
    memset(&facts, 0, sizeof facts);
    return syscall(SYS_statx, AT_FDCWD, path, flags, mask, &facts);
}

CHECK(reports_size_mode_and_owner) {
    file_with("file", "glass");
    works(ask("file", 0, STATX_BASIC_STATS), "statx");
    want((facts.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS, "facts are missing");
    want(facts.stx_mode == (S_IFREG | 0600), "mode %o", facts.stx_mode);
    want(facts.stx_size == 5 && facts.stx_uid == geteuid() && facts.stx_nlink == 1, "other facts");
}

CHECK(agrees_with_stat) {
    struct stat other;
    works(ask("/usr", 0, STATX_BASIC_STATS), "statx");
    works(stat("/usr", &other), "stat");
    want(facts.stx_ino == other.st_ino && facts.stx_mode == other.st_mode, "they differ");
    want(facts.stx_mtime.tv_sec == other.st_mtim.tv_sec, "the times differ");
}

CHECK(reports_when_a_file_was_made) {
    file_with("file", "");
    works(ask("file", 0, STATX_BTIME), "statx");
    if (!(facts.stx_mask & STATX_BTIME))
        unavailable("this file system does not know");
    want(facts.stx_btime.tv_sec > 0, "at the beginning of time");
}

CHECK(reports_which_mount_it_is) {
    works(ask("/usr", 0, STATX_MNT_ID), "statx");
    want(facts.stx_mask & STATX_MNT_ID && facts.stx_mnt_id > 0, "no mount ID returned");
}

CHECK(reports_what_attributes_mean_something) {
    file_with("file", "");
    works(ask("file", 0, STATX_BASIC_STATS), "statx");
    want(!(facts.stx_attributes & ~facts.stx_attributes_mask), "attributes without meaning");
    want(!(facts.stx_attributes & STATX_ATTR_IMMUTABLE), "it can't be changed");
}

CHECK(follows_links_unless_asked) {
    own_directory();
    works(symlink(".", "link"), "symlink");
    works(ask("link", 0, STATX_TYPE), "statx");
    want(S_ISDIR(facts.stx_mode), "the link was not followed");
    works(ask("link", AT_SYMLINK_NOFOLLOW, STATX_TYPE), "statx");
    want(S_ISLNK(facts.stx_mode), "the link was followed");
}

CHECK(takes_an_open_file) {
    int fd = file_with("file", "glass");
    works(syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &facts), "statx");
    want(facts.stx_size == 5, "another size");
}

CHECK(looks_beneath_a_directory) {
    file_with("file", "glass");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_statx, here, "file", 0, STATX_SIZE, &facts), "statx");
    want(facts.stx_size == 5, "another size");
}

CHECK(may_use_what_is_known_already) {
    file_with("file", "glass");
    works(ask("file", AT_STATX_DONT_SYNC, STATX_SIZE), "statx with AT_STATX_DONT_SYNC");
    works(ask("file", AT_STATX_FORCE_SYNC, STATX_SIZE), "statx with AT_STATX_FORCE_SYNC");
    want(facts.stx_size == 5, "another size");
}

CHECK(refuses_to_sync_both_ways) {
    refuses(ask("/", AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC, STATX_SIZE), EINVAL, "both ways");
}

CHECK(refuses_unknown_flags) {
    refuses(ask("/", 1 << 30, STATX_SIZE), EINVAL, "statx with 1 << 30");
}

CHECK(refuses_a_reserved_wish) {
    refuses(ask("/", 0, 1U << 31), EINVAL, "statx for 1 << 31");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(ask("nothing", 0, STATX_SIZE), ENOENT, "statx of nothing");
    refuses(ask("", 0, STATX_SIZE), ENOENT, "statx of no name");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_SIZE, (void *)8), EFAULT, "statx to 8");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_statx, -1, "file", 0, STATX_SIZE, &facts), EBADF, "statx beneath -1");
}

CHECKS
