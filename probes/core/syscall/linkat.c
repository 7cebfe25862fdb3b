/* linkat: a second name for a file, relative to open directories. */
#define CAPABILITY "syscall_linkat"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(gives_a_file_a_second_name) {
    struct stat facts;
    int fd = file_with("one", "");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_linkat, here, "one", here, "two", 0), "linkat");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_nlink == 2, "it has one name");
}

CHECK(names_a_link_itself_unless_asked_to_follow) {
    struct stat facts;
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    works(syscall(SYS_linkat, AT_FDCWD, "link", AT_FDCWD, "kept", 0), "linkat");
    works(lstat("kept", &facts), "lstat");
    want(S_ISLNK(facts.st_mode), "the link was followed");
    works(syscall(SYS_linkat, AT_FDCWD, "link", AT_FDCWD, "followed", AT_SYMLINK_FOLLOW), "linkat");
    works(lstat("followed", &facts), "lstat");
    want(S_ISREG(facts.st_mode), "the link was not followed");
}

CHECK(names_a_file_that_has_no_name) {
    char path[64];
    own_directory();
    int fd = (int)works_if_offered(open(".", O_TMPFILE | O_RDWR, 0600), EOPNOTSUPP, "O_TMPFILE");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    works(syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, "new", AT_SYMLINK_FOLLOW), "linkat");
    works(access("new", F_OK), "access");
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("one", "");
    refuses(syscall(SYS_linkat, AT_FDCWD, "one", AT_FDCWD, "one", 0), EEXIST, "linkat");
}

CHECK(refuses_unknown_flags) {
    file_with("one", "");
    refuses(syscall(SYS_linkat, AT_FDCWD, "one", AT_FDCWD, "two", 1 << 30), EINVAL, "linkat");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_linkat, -1, "one", -1, "two", 0), EBADF, "linkat beneath -1");
}

CHECKS
