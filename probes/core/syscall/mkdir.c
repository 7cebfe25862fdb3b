/* mkdir: a new directory. */
#define CAPABILITY "syscall_mkdir"
#include "_runner_c.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_mkdir

CHECK(makes_a_directory_with_its_mode) {
    struct stat facts;
    own_directory();
    umask(022);
    works(syscall(SYS_mkdir, "new", 0777), "mkdir");
    works(stat("new", &facts), "stat");
    want(S_ISDIR(facts.st_mode) && (facts.st_mode & 0777) == 0755, "mode %o", facts.st_mode);
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("file", "");
    refuses(syscall(SYS_mkdir, "file", 0700), EEXIST, "mkdir over a file");
}

CHECK(refuses_a_place_that_is_not_there) {
    own_directory();
    refuses(syscall(SYS_mkdir, "nothing/new", 0700), ENOENT, "mkdir in nothing");
}

CHECK(refuses_a_place_in_a_file) {
    file_with("file", "");
    refuses(syscall(SYS_mkdir, "file/new", 0700), ENOTDIR, "mkdir in a file");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no mkdir");
}

#endif

CHECKS
