/* fcntl: flags, locks and sizes of descriptors. */
#define CAPABILITY "syscall_fcntl"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long control(int fd, int what, unsigned long how) {
    return syscall(SYS_fcntl, fd, what, how);
}

/* What a child finds that asks for the lock that its parent holds: 0, or an errno. */
static int errno_in_child(int fd, int what, struct flock *lock) {
    int status;
    pid_t pid = (pid_t)works(fork(), "fork");
    if (pid == 0)
        _exit(syscall(SYS_fcntl, fd, what, lock) == 0 ? 0 : errno);
    works(waitpid(pid, &status, 0), "waitpid");
    return WEXITSTATUS(status);
}

CHECK(copies_to_a_number_from_a_bound_on) {
    int fd = file_with("file", "glass");
    long copy = works(control(fd, F_DUPFD, 100), "F_DUPFD");
    want(copy >= 100, "%ld", copy);
    works(lseek((int)copy, 3, SEEK_SET), "lseek");
    want(lseek(fd, 0, SEEK_CUR) == 3, "it is no copy");
}

CHECK(copies_and_marks_for_closing) {
    long copy = works(control(0, F_DUPFD_CLOEXEC, 100), "F_DUPFD_CLOEXEC");
    want(control((int)copy, F_GETFD, 0) == FD_CLOEXEC, "not marked");
}

CHECK(marks_for_closing_and_takes_it_back) {
    int fd = file_with("file", "");
    works(control(fd, F_SETFD, FD_CLOEXEC), "F_SETFD");
    want(control(fd, F_GETFD, 0) == FD_CLOEXEC, "not marked");
    works(control(fd, F_SETFD, 0), "F_SETFD");
    want(control(fd, F_GETFD, 0) == 0, "still marked");
}

CHECK(reports_how_a_file_was_opened) {
    file_with("file", "");
    int fd = (int)works(open("file", O_WRONLY | O_APPEND), "open");
    long flags = works(control(fd, F_GETFL, 0), "F_GETFL");
    want((flags & O_ACCMODE) == O_WRONLY && flags & O_APPEND, "%lx", flags);
}

CHECK(makes_a_file_append) {
    char bytes[8];
    int fd = file_with("file", "ab");
    works(control(fd, F_SETFL, O_APPEND), "F_SETFL");
    works(write(fd, "c", 1), "write");
    want(pread(fd, bytes, 8, 0) == 3 && memcmp(bytes, "abc", 3) == 0, "other bytes");
}

CHECK(makes_a_pipe_not_wait) {
    int ends[2];
    char byte;
    works(pipe(ends), "pipe");
    works(control(ends[0], F_SETFL, O_NONBLOCK), "F_SETFL");
    refuses(read(ends[0], &byte, 1), EAGAIN, "read of an empty pipe");
}

CHECK(locks_a_range_against_other_processes) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 2};
    int fd = file_with("file", "glass");
    works(syscall(SYS_fcntl, fd, F_SETLK, &lock), "F_SETLK");
    works(syscall(SYS_fcntl, fd, F_SETLK, &lock), "F_SETLK again");
    want(errno_in_child(fd, F_SETLK, &lock) == EAGAIN, "another process may lock it, too");
    struct flock beside = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 4, .l_len = 1};
    want(errno_in_child(fd, F_SETLK, &beside) == 0, "what lies beside is locked, too");
}

CHECK(lets_others_lock_what_was_unlocked) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, none = {.l_type = F_UNLCK};
    int fd = file_with("file", "glass");
    works(syscall(SYS_fcntl, fd, F_SETLK, &lock), "F_SETLK");
    works(syscall(SYS_fcntl, fd, F_SETLK, &none), "F_SETLK with F_UNLCK");
    want(errno_in_child(fd, F_SETLK, &lock) == 0, "it is still locked");
}

CHECK(shares_a_lock_for_reading) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = file_with("file", "glass");
    works(syscall(SYS_fcntl, fd, F_SETLK, &lock), "F_SETLK");
    want(errno_in_child(fd, F_SETLKW, &lock) == 0, "nobody else may read");
    lock.l_type = F_WRLCK;
    want(errno_in_child(fd, F_SETLK, &lock) == EAGAIN, "somebody else may write");
}

CHECK(reports_who_holds_a_lock) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 2};
    int fd = file_with("file", "glass"), status;
    pid_t parent = getpid(), pid;
    works(syscall(SYS_fcntl, fd, F_SETLK, &lock), "F_SETLK");
    if ((pid = fork()) == 0) {
        struct flock asked = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
        _exit(syscall(SYS_fcntl, fd, F_GETLK, &asked) == 0 && asked.l_type == F_WRLCK &&
                      asked.l_pid == parent && asked.l_start == 2
                  ? 0
                  : 1);
    }
    works(waitpid(pid, &status, 0), "waitpid");
    want(status == 0, "another lock was reported");
}

CHECK(locks_a_file_by_its_opening) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int one = file_with("file", "glass"), other = (int)works(open("file", O_RDWR), "open");
    works(syscall(SYS_fcntl, one, F_OFD_SETLK, &lock), "F_OFD_SETLK");
    refuses(syscall(SYS_fcntl, other, F_OFD_SETLK, &lock), EAGAIN, "F_OFD_SETLK elsewhere");
    close(one);
    works(syscall(SYS_fcntl, other, F_OFD_SETLK, &lock), "F_OFD_SETLK afterwards");
}

CHECK(changes_the_size_of_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    want(works(control(ends[0], F_GETPIPE_SZ, 0), "F_GETPIPE_SZ") > 0, "no size");
    long size = works(control(ends[0], F_SETPIPE_SZ, 8192), "F_SETPIPE_SZ");
    want(size >= 8192 && control(ends[1], F_GETPIPE_SZ, 0) == size, "%ld", size);
}

CHECK(seals_memory_against_writing) {
    int fd = (int)works(memfd_create("sealed", MFD_ALLOW_SEALING), "memfd_create");
    works(control(fd, F_ADD_SEALS, F_SEAL_WRITE), "F_ADD_SEALS");
    want(control(fd, F_GET_SEALS, 0) == F_SEAL_WRITE, "other seals");
    refuses(write(fd, "x", 1), EPERM, "write to sealed memory");
}

CHECK(sends_a_signal_to_whom_it_was_asked) {
    int ends[2], signal;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGIO);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    works(pipe(ends), "pipe");
    works(control(ends[0], F_SETOWN, (unsigned long)getpid()), "F_SETOWN");
    want(control(ends[0], F_GETOWN, 0) == getpid(), "another owner");
    works(control(ends[0], F_SETFL, O_ASYNC), "F_SETFL");
    works(write(ends[1], "x", 1), "write");
    struct timespec limit = {.tv_sec = 3};
    signal = sigtimedwait(&wanted, NULL, &limit);
    want(signal == SIGIO, "no signal came");
}

CHECK(takes_a_lease_and_gives_it_back) {
    int fd = file_with("file", "");
    works(control(fd, F_SETLEASE, F_WRLCK), "F_SETLEASE");
    want(control(fd, F_GETLEASE, 0) == F_WRLCK, "no lease");
    works(control(fd, F_SETLEASE, F_UNLCK), "F_SETLEASE");
    want(control(fd, F_GETLEASE, 0) == F_UNLCK, "still a lease");
}

CHECK(reports_a_change_in_a_directory) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGIO);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    own_directory();
    int fd = (int)works(open(".", O_RDONLY), "open .");
    works_if_offered(control(fd, F_NOTIFY, DN_CREATE), EINVAL, "F_NOTIFY"); /* a kernel's option */
    close(file_with("new", ""));
    struct timespec limit = {.tv_sec = 3};
    want(sigtimedwait(&wanted, NULL, &limit) == SIGIO, "no signal came");
}

CHECK(refuses_a_number_beyond_the_limit) {
    struct rlimit limit;
    works(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    refuses(control(0, F_DUPFD, limit.rlim_cur), EINVAL, "F_DUPFD from the limit on");
}

CHECK(refuses_a_lock_for_writing_on_a_file_for_reading) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    file_with("file", "glass");
    int fd = (int)works(open("file", O_RDONLY), "open");
    refuses(syscall(SYS_fcntl, fd, F_SETLK, &lock), EBADF, "F_SETLK");
}

CHECK(refuses_an_unknown_lock) {
    struct flock lock = {.l_type = 99, .l_whence = SEEK_SET};
    refuses(syscall(SYS_fcntl, file_with("file", ""), F_SETLK, &lock), EINVAL, "F_SETLK of 99");
}

CHECK(refuses_seals_where_they_are_not_allowed) {
    int fd = (int)works(memfd_create("unsealed", 0), "memfd_create");
    refuses(control(fd, F_ADD_SEALS, F_SEAL_WRITE), EPERM, "F_ADD_SEALS");
}

CHECK(refuses_a_bad_address) {
    refuses(control(file_with("file", ""), F_SETLK, 8), EFAULT, "F_SETLK by 8");
}

CHECK(refuses_an_unknown_command) {
    refuses(control(0, 9999, 0), EINVAL, "command 9999");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(control(-1, F_GETFD, 0), EBADF, "F_GETFD of -1");
}

CHECKS
