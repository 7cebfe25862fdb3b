/* chdir: another working directory. */
#define CAPABILITY "syscall_chdir"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(changes_where_names_begin) {
    char path[64];
    works(syscall(SYS_chdir, "/usr"), "chdir");
    want(strcmp(getcwd(path, sizeof path), "/usr") == 0, "it is %s", path);
    works(access("bin/env", F_OK), "access bin/env");
}

CHECK(follows_a_link) {
    struct stat here, there;
    own_directory();
    works(symlink("/usr", "link"), "symlink");
    works(syscall(SYS_chdir, "link"), "chdir");
    works(stat(".", &here), "stat");
    works(stat("/usr", &there), "stat");
    want(here.st_ino == there.st_ino, "it is elsewhere");
}

CHECK(refuses_a_file) {
    file_with("file", "");
    refuses(syscall(SYS_chdir, "file"), ENOTDIR, "chdir to a file");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_chdir, "nothing"), ENOENT, "chdir to nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_chdir, (void *)8), EFAULT, "chdir to the path at 8");
}

CHECKS
