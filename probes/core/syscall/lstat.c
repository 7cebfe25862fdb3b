/* lstat: what a path itself is, a link included. */
#define CAPABILITY "syscall_lstat"
#include "_runner_c.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_lstat

static struct stat facts;

CHECK(reports_a_link_itself) {
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    works(syscall(SYS_lstat, "link", &facts), "lstat");
    want(S_ISLNK(facts.st_mode) && facts.st_size == 7, "it is not the link");
}

CHECK(reports_a_file) {
    file_with("file", "glass");
    works(syscall(SYS_lstat, "file", &facts), "lstat");
    want(S_ISREG(facts.st_mode) && facts.st_size == 5, "other facts");
}

CHECK(follows_links_before_the_last_name) {
    own_directory();
    works(symlink("/usr", "link"), "symlink");
    works(syscall(SYS_lstat, "link/bin", &facts), "lstat");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_lstat, "nothing", &facts), ENOENT, "lstat of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no lstat");
}

#endif

CHECKS
