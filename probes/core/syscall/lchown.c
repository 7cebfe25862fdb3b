/* lchown: the owner of a link itself. */
#define CAPABILITY "syscall_lchown"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_lchown

CHECK(gives_a_link_to_whom_it_belongs) {
    struct stat before, after;
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    works(lstat("link", &before), "lstat");
    usleep(20000);
    works(syscall(SYS_lchown, "link", before.st_uid, before.st_gid), "lchown");
    works(lstat("link", &after), "lstat");
    want(after.st_uid == before.st_uid && after.st_gid == before.st_gid, "another owner");
    want(after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
             after.st_ctim.tv_nsec != before.st_ctim.tv_nsec,
         "no change was marked");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_lchown, "nothing", geteuid(), -1), ENOENT, "lchown of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no lchown");
}

#endif

CHECKS
