/* chown: the owner of a file, by path. */
#define CAPABILITY "syscall_chown"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_chown

CHECK(gives_a_file_to_whom_it_belongs) {
    struct stat before, after;
    file_with("file", "");
    works(stat("file", &before), "stat");
    usleep(20000);
    works(syscall(SYS_chown, "file", before.st_uid, before.st_gid), "chown");
    works(stat("file", &after), "stat");
    want(after.st_uid == before.st_uid && after.st_gid == before.st_gid, "another owner");
    want(after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
             after.st_ctim.tv_nsec != before.st_ctim.tv_nsec,
         "no change was marked");
}

CHECK(follows_a_link) {
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    refuses(syscall(SYS_chown, "link", geteuid(), -1), ENOENT, "chown through a link to nothing");
}

CHECK(leaves_what_is_not_given) {
    struct stat before, after;
    file_with("file", "");
    works(stat("file", &before), "stat");
    works(syscall(SYS_chown, "file", -1, -1), "chown");
    works(stat("file", &after), "stat");
    want(after.st_uid == before.st_uid && after.st_gid == before.st_gid, "another owner");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_chown, "nothing", geteuid(), -1), ENOENT, "chown of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no chown");
}

#endif

CHECKS
