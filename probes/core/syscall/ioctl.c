/* ioctl: requests to files, pipes and sockets. */
#define CAPABILITY "syscall_ioctl"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

static long control(int fd, unsigned long what, void *how) {
    return syscall(SYS_ioctl, fd, what, how);
}

CHECK(reports_how_much_can_be_read_from_a_pipe) {
    int ends[2], count = -1;
    works(pipe(ends), "pipe");
    works(write(ends[1], "glass", 5), "write");
    works(control(ends[0], FIONREAD, &count), "FIONREAD");
    want(count == 5, "%d", count);
}

CHECK(reports_how_much_of_a_file_is_left) {
    int count = -1, fd = file_with("file", "glass");
    works(lseek(fd, 2, SEEK_SET), "lseek");
    works(control(fd, FIONREAD, &count), "FIONREAD");
    want(count == 3, "%d", count);
}

CHECK(reports_how_much_has_come_to_a_socket) {
    int ends[2], count = -1;
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    works(write(ends[1], "glass", 5), "write");
    works(control(ends[0], FIONREAD, &count), "FIONREAD");
    want(count == 5, "%d", count);
}

CHECK(makes_a_pipe_not_wait) {
    int ends[2], yes = 1;
    char byte;
    works(pipe(ends), "pipe");
    works(control(ends[0], FIONBIO, &yes), "FIONBIO");
    refuses(read(ends[0], &byte, 1), EAGAIN, "read of an empty pipe");
}

CHECK(marks_for_closing_and_takes_it_back) {
    int fd = file_with("file", "");
    works(control(fd, FIOCLEX, NULL), "FIOCLEX");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not marked");
    works(control(fd, FIONCLEX, NULL), "FIONCLEX");
    want(fcntl(fd, F_GETFD) == 0, "still marked");
}

CHECK(asks_a_pipe_for_signals) {
    int ends[2], yes = 1;
    works(pipe(ends), "pipe");
    works(control(ends[0], FIOASYNC, &yes), "FIOASYNC");
    want(fcntl(ends[0], F_GETFL) & O_ASYNC, "it was not taken");
}

CHECK(reports_the_size_of_a_block) {
    struct stat facts;
    int size = -1, fd = file_with("file", "glass");
    works(control(fd, FIGETBSZ, &size), "FIGETBSZ");
    works(fstat(fd, &facts), "fstat");
    want(size > 0 && facts.st_blksize % size == 0, "%d", size);
}

CHECK(sets_the_flags_of_an_inode) {
    int flags = 0, fd = file_with("file", "");
    works_if_offered(control(fd, FS_IOC_GETFLAGS, &flags), ENOTTY, "FS_IOC_GETFLAGS");
    flags |= FS_NODUMP_FL;
    works(control(fd, FS_IOC_SETFLAGS, &flags), "FS_IOC_SETFLAGS");
    flags = 0;
    works(control(fd, FS_IOC_GETFLAGS, &flags), "FS_IOC_GETFLAGS");
    want(flags & FS_NODUMP_FL, "the flag is missing");
}

CHECK(shares_blocks_or_says_that_it_can_not) {
    char bytes[8];
    int fd = file_with("file", "glass"), copy = file_with("copy", "");
    long result = syscall(SYS_ioctl, copy, FICLONE, fd);
    if (result == -1 && (errno == EOPNOTSUPP || errno == ENOTTY))
        unavailable("this file system shares no blocks");
    works(result, "FICLONE");
    want(read(copy, bytes, 8) == 5, "the copy is empty");
}

CHECK(refuses_a_files_request_for_a_terminal) {
    struct winsize size;
    refuses(control(file_with("file", ""), TIOCGWINSZ, &size), ENOTTY, "TIOCGWINSZ of a file");
}

CHECK(refuses_an_unknown_request) {
    refuses(control(file_with("file", ""), 0xbeef, NULL), ENOTTY, "request 0xbeef");
}

CHECK(refuses_a_bad_address) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(control(ends[0], FIONREAD, (void *)8), EFAULT, "FIONREAD to 8");
}

CHECK(refuses_a_place_without_a_file) {
    own_directory();
    int count, fd = (int)works(open(".", O_PATH), "open .");
    refuses(control(fd, FIONREAD, &count), EBADF, "FIONREAD of an O_PATH descriptor");
}

CHECK(refuses_a_closed_descriptor) {
    int count;
    refuses(control(-1, FIONREAD, &count), EBADF, "FIONREAD of -1");
}

CHECKS
