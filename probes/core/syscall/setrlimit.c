/* setrlimit: limits lowered, and at work. */
#define CAPABILITY "syscall_setrlimit"
#include "_runner_c.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long set(int which, rlim_t soft, rlim_t hard) {
    struct rlimit limit = {soft, hard};
    return syscall(SYS_setrlimit, which, &limit);
}

CHECK(bounds_open_files) {
    works(set(RLIMIT_NOFILE, 20, 20), "setrlimit");
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    refuses(dup(0), EMFILE, "dup");
    refuses(fcntl(0, F_DUPFD, 20), EINVAL, "a descriptor beyond the limit");
}

CHECK(bounds_the_size_of_files) {
    const char *path = scratch("setrlimit");
    int fd = (int)works(open(path, O_CREAT | O_RDWR, 0600), "open");
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    works(set(RLIMIT_FSIZE, 10, 10), "setrlimit");
    want(write(fd, "twelve bytes", 12) == 10, "not cut at the limit");
    refuses(write(fd, "x", 1), EFBIG, "write");
}

CHECK(bounds_memory) {
    works(set(RLIMIT_AS, 1 << 30, 1 << 30), "setrlimit");
    void *at = mmap(NULL, 2UL << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    refuses(at == MAP_FAILED ? -1 : 0, ENOMEM, "mmap of 2 GiB");
}

static void has_the_limit(void) {
    struct rlimit limit;
    _exit(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 20 ? 0 : 1);
}

CHECK(is_inherited) {
    works(set(RLIMIT_NOFILE, 20, 30), "setrlimit");
    want(end_of(child_that(has_the_limit)) == 0, "the child has another");
}

CHECK(goes_up_and_down_below_the_hard_one) {
    be_ordinary();
    works(set(RLIMIT_NOFILE, 20, 30), "setrlimit");
    works(set(RLIMIT_NOFILE, 30, 30), "up again");
}

CHECK(refuses_to_raise_the_hard_one) {
    be_ordinary();
    works(set(RLIMIT_NOFILE, 20, 30), "setrlimit");
    refuses(set(RLIMIT_NOFILE, 20, 31), EPERM, "a higher one");
}

CHECK(refuses_a_soft_one_above_the_hard_one) {
    refuses(set(RLIMIT_NOFILE, 30, 20), EINVAL, "30 above 20");
}

CHECK(refuses_an_unknown_limit) {
    refuses(set(16, 1, 1), EINVAL, "limit 16");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_setrlimit, RLIMIT_NOFILE, 8), EFAULT, "address 8");
}

CHECKS
