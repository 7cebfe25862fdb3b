/* fstat: what an open file is. */
#define CAPABILITY "syscall_fstat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct stat facts;

CHECK(reports_a_file) {
    int fd = file_with("file", "glass");
    works(syscall(SYS_fstat, fd, &facts), "fstat");
    want(S_ISREG(facts.st_mode) && facts.st_size == 5, "other facts");
    works(unlink("file"), "unlink");
    works(syscall(SYS_fstat, fd, &facts), "fstat");
    want(facts.st_nlink == 0, "it still has a name");
}

CHECK(reports_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(syscall(SYS_fstat, ends[0], &facts), "fstat");
    want(S_ISFIFO(facts.st_mode), "it is no pipe");
}

CHECK(reports_a_directory) {
    works(syscall(SYS_fstat, works(open("/", O_PATH), "open /"), &facts), "fstat");
    want(S_ISDIR(facts.st_mode), "it is no directory");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fstat, -1, &facts), EBADF, "fstat of -1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_fstat, file_with("file", ""), (void *)8), EFAULT, "fstat to 8");
}

CHECKS
