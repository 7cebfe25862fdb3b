/* fchown: the owner of an open file. */
#define CAPABILITY "syscall_fchown"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(gives_a_file_to_whom_it_belongs) {
    struct stat before, after;
    int fd = file_with("file", "");
    works(fstat(fd, &before), "fstat");
    usleep(20000);
    works(syscall(SYS_fchown, fd, before.st_uid, before.st_gid), "fchown");
    works(fstat(fd, &after), "fstat");
    want(after.st_uid == before.st_uid && after.st_gid == before.st_gid, "another owner");
    want(after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
             after.st_ctim.tv_nsec != before.st_ctim.tv_nsec,
         "no change was marked");
}

CHECK(refuses_a_place_without_a_file) {
    own_directory();
    int fd = (int)works(open(".", O_PATH), "open .");
    refuses(syscall(SYS_fchown, fd, geteuid(), -1), EBADF, "fchown of an O_PATH descriptor");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fchown, -1, geteuid(), -1), EBADF, "fchown of -1");
}

CHECKS
