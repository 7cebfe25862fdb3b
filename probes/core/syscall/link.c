/* link: a second name for a file. */
#define CAPABILITY "syscall_link"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_link

CHECK(gives_a_file_a_second_name) {
    struct stat one, two;
    file_with("one", "");
    works(syscall(SYS_link, "one", "two"), "link");
    works(stat("one", &one), "stat");
    works(stat("two", &two), "stat");
    want(one.st_ino == two.st_ino && one.st_nlink == 2, "it is another file");
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("one", "");
    file_with("two", "");
    refuses(syscall(SYS_link, "one", "two"), EEXIST, "link over a file");
}

CHECK(refuses_a_directory) {
    own_directory();
    refuses(syscall(SYS_link, ".", "two"), EPERM, "link to a directory");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_link, "nothing", "two"), ENOENT, "link to nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no link");
}

#endif

CHECKS
