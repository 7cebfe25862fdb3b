/* newfstatat: what a path beneath an open directory is. */
#define CAPABILITY "syscall_newfstatat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct stat facts;

CHECK(reports_a_file_beneath_a_directory) {
    file_with("file", "glass");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_newfstatat, here, "file", &facts, 0), "newfstatat");
    want(S_ISREG(facts.st_mode) && facts.st_size == 5, "other facts");
}

CHECK(follows_links_unless_asked) {
    own_directory();
    works(symlink(".", "link"), "symlink");
    works(syscall(SYS_newfstatat, AT_FDCWD, "link", &facts, 0), "newfstatat");
    want(S_ISDIR(facts.st_mode), "the link was not followed");
    works(syscall(SYS_newfstatat, AT_FDCWD, "link", &facts, AT_SYMLINK_NOFOLLOW), "newfstatat");
    want(S_ISLNK(facts.st_mode), "the link was followed");
}

CHECK(takes_an_open_file) {
    int fd = file_with("file", "glass");
    works(syscall(SYS_newfstatat, fd, "", &facts, AT_EMPTY_PATH), "newfstatat");
    want(facts.st_size == 5, "other facts");
}

CHECK(refuses_no_name_unless_asked) {
    refuses(syscall(SYS_newfstatat, file_with("f", ""), "", &facts, 0), ENOENT, "of no name");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_newfstatat, AT_FDCWD, "/", &facts, 1 << 30), EINVAL, "with 1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_newfstatat, -1, "file", &facts, 0), EBADF, "newfstatat beneath -1");
}

CHECKS
