/* getcwd: the path of the working directory. */
#define CAPABILITY "syscall_getcwd"
#include "_runner_c.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char path[4096];

CHECK(reports_the_path_and_its_length) {
    works(chdir("/usr/bin"), "chdir");
    want(works(syscall(SYS_getcwd, path, sizeof path), "getcwd") == 9, "another length");
    want(strcmp(path, "/usr/bin") == 0, "%s", path);
}

CHECK(follows_a_renaming) {
    own_directory();
    works(mkdir("one", 0700), "mkdir");
    works(chdir("one"), "chdir");
    works(rename("../one", "../two"), "rename");
    works(syscall(SYS_getcwd, path, sizeof path), "getcwd");
    want(strcmp(strrchr(path, '/'), "/two") == 0, "%s", path);
}

CHECK(refuses_too_little_room) {
    works(chdir("/usr"), "chdir");
    refuses(syscall(SYS_getcwd, path, 4), ERANGE, "getcwd in 4 bytes");
}

CHECK(refuses_a_directory_that_is_gone) {
    own_directory();
    works(mkdir("gone", 0700), "mkdir");
    works(chdir("gone"), "chdir");
    works(rmdir("../gone"), "rmdir");
    refuses(syscall(SYS_getcwd, path, sizeof path), ENOENT, "getcwd");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getcwd, (void *)8, 4096), EFAULT, "getcwd to 8");
}

CHECKS
