/* fchownat: the owner of a file beneath an open directory. */
#define CAPABILITY "syscall_fchownat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(gives_a_file_to_whom_it_belongs) {
    struct stat before, after;
    int fd = file_with("file", ""), here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(fstat(fd, &before), "fstat");
    usleep(20000);
    works(syscall(SYS_fchownat, here, "file", before.st_uid, before.st_gid, 0), "fchownat");
    works(fstat(fd, &after), "fstat");
    want(after.st_uid == before.st_uid && after.st_gid == before.st_gid, "another owner");
    want(after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
             after.st_ctim.tv_nsec != before.st_ctim.tv_nsec,
         "no change was marked");
}

CHECK(looks_at_a_link_itself_if_asked) {
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    refuses(syscall(SYS_fchownat, AT_FDCWD, "link", geteuid(), -1, 0), ENOENT, "through the link");
    works(syscall(SYS_fchownat, AT_FDCWD, "link", geteuid(), -1, AT_SYMLINK_NOFOLLOW), "the link");
}

CHECK(takes_an_open_file) {
    int fd = file_with("file", "");
    works(syscall(SYS_fchownat, fd, "", geteuid(), -1, AT_EMPTY_PATH), "fchownat");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(syscall(SYS_fchownat, AT_FDCWD, "file", geteuid(), -1, 1 << 30), EINVAL, "1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_fchownat, -1, "file", geteuid(), -1, 0), EBADF, "fchownat beneath -1");
}

CHECKS
