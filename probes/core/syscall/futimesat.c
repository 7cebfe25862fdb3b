/* futimesat: the times of a file beneath an open directory. */
#define CAPABILITY "syscall_futimesat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef SYS_futimesat

CHECK(sets_both_times) {
    struct stat facts;
    struct timeval times[] = {{1000, 5}, {2000, 7}};
    int fd = file_with("file", ""), here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_futimesat, here, "file", times), "futimesat");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_atime == 1000 && facts.st_mtime == 2000, "other times");
}

CHECK(takes_an_open_file) {
    struct stat facts;
    struct timeval times[] = {{1000, 5}, {2000, 7}};
    int fd = file_with("file", "");
    works(syscall(SYS_futimesat, fd, NULL, times), "futimesat");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_mtime == 2000, "other times");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_futimesat, -1, "file", NULL), EBADF, "futimesat beneath -1");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no futimesat");
}

#endif

CHECKS
