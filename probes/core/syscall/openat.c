/* openat: what flags promise, and what paths lead to. */
#define CAPABILITY "syscall_openat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];

static int here(void) {
    own_directory();
    return (int)works(open(".", O_RDONLY | O_DIRECTORY), "open .");
}

CHECK(opens_beneath_a_directory) {
    int directory = here();
    file_with("file", "glass");
    works(chdir("/"), "chdir");
    int fd = (int)works(syscall(SYS_openat, directory, "file", O_RDONLY), "openat");
    want(read(fd, bytes, sizeof bytes) == 5 && !memcmp(bytes, "glass", 5), "not that file");
}

CHECK(needs_no_directory_for_an_absolute_path) {
    works(syscall(SYS_openat, -1, "/usr", O_RDONLY | O_DIRECTORY), "openat /usr");
}

CHECK(takes_the_lowest_free_number) {
    int low = (int)works(dup(0), "dup"), high = (int)works(dup(0), "dup");
    close(low);
    want(works(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY), "openat") == low, "not the lowest");
    close(high);
}

CHECK(makes_a_file_with_its_mode_less_the_mask) {
    struct stat facts;
    own_directory();
    umask(027);
    works(syscall(SYS_openat, AT_FDCWD, "file", O_CREAT | O_WRONLY, 0666), "openat");
    works(stat("file", &facts), "stat");
    want((facts.st_mode & 07777) == 0640, "mode %o", facts.st_mode & 07777);
}

CHECK(empties_with_trunc) {
    int fd = file_with("file", "glass");
    works(syscall(SYS_openat, AT_FDCWD, "file", O_WRONLY | O_TRUNC), "openat");
    want(read(fd, bytes, sizeof bytes) == 0, "it still holds bytes");
}

CHECK(appends_with_append) {
    int fd = file_with("file", "ab");
    int end = (int)works(syscall(SYS_openat, AT_FDCWD, "file", O_WRONLY | O_APPEND), "openat");
    works(write(end, "c", 1), "write");
    want(read(fd, bytes, sizeof bytes) == 3 && !memcmp(bytes, "abc", 3), "other bytes");
}

CHECK(makes_a_file_without_a_name) {
    struct stat facts;
    own_directory();
    long result = syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR, 0600);
    int fd = (int)works_if_offered(result, EOPNOTSUPP, "O_TMPFILE");
    works(write(fd, "x", 1), "write");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_nlink == 0 && facts.st_size == 1, "it has a name, or no byte");
}

CHECK(gives_only_the_place_with_path) {
    file_with("file", "glass");
    int fd = (int)works(syscall(SYS_openat, AT_FDCWD, "file", O_PATH), "openat");
    refuses(read(fd, bytes, 1), EBADF, "read of a descriptor with O_PATH");
    works(fstat(fd, &(struct stat){0}), "fstat");
}

CHECK(opens_a_link_itself_with_path_and_nofollow) {
    struct stat facts;
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    int fd = (int)works(syscall(SYS_openat, AT_FDCWD, "link", O_PATH | O_NOFOLLOW), "openat");
    works(fstat(fd, &facts), "fstat");
    want(S_ISLNK(facts.st_mode), "not the link");
}

CHECK(marks_for_closing_with_cloexec) {
    int kept = (int)works(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY), "openat");
    int closed = (int)works(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_CLOEXEC), "openat");
    want(fcntl(kept, F_GETFD) == 0, "close-on-exec without O_CLOEXEC");
    want(fcntl(closed, F_GETFD) == FD_CLOEXEC, "not marked");
}

CHECK(gives_each_opening_a_position_of_its_own) {
    int one = file_with("file", "ab");
    int other = (int)works(syscall(SYS_openat, AT_FDCWD, "file", O_RDONLY), "openat");
    works(read(one, bytes, 2), "read");
    want(read(other, bytes, 2) == 2, "the position is shared");
}

CHECK(refuses_a_link_with_nofollow) {
    own_directory();
    works(symlink("/", "link"), "symlink");
    refuses(syscall(SYS_openat, AT_FDCWD, "link", O_NOFOLLOW), ELOOP, "openat of a link");
}

CHECK(refuses_a_link_to_itself) {
    own_directory();
    works(symlink("link", "link"), "symlink");
    refuses(syscall(SYS_openat, AT_FDCWD, "link", O_RDONLY), ELOOP, "openat of a loop");
}

CHECK(refuses_what_is_there_with_excl) {
    file_with("file", "");
    refuses(syscall(SYS_openat, AT_FDCWD, "file", O_CREAT | O_EXCL, 0600), EEXIST, "openat");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_openat, AT_FDCWD, "nothing", O_RDONLY), ENOENT, "openat of nothing");
    refuses(syscall(SYS_openat, AT_FDCWD, "", O_RDONLY), ENOENT, "openat of no name");
}

CHECK(refuses_a_file_as_a_directory) {
    file_with("file", "");
    refuses(syscall(SYS_openat, AT_FDCWD, "file", O_DIRECTORY), ENOTDIR, "openat of a file");
    refuses(syscall(SYS_openat, AT_FDCWD, "file/x", O_RDONLY), ENOTDIR, "openat below a file");
}

CHECK(refuses_to_write_to_a_directory) {
    own_directory();
    refuses(syscall(SYS_openat, AT_FDCWD, ".", O_RDWR), EISDIR, "openat of . for writing");
}

CHECK(refuses_a_name_too_long) {
    char name[300];
    own_directory();
    memset(name, 'n', sizeof name);
    name[256] = 0;
    refuses(syscall(SYS_openat, AT_FDCWD, name, O_RDONLY), ENAMETOOLONG, "openat of 256 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_openat, AT_FDCWD, (void *)8, O_RDONLY), EFAULT, "openat of the path at 8");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_openat, -1, "file", O_RDONLY), EBADF, "openat beneath -1");
}

CHECK(refuses_to_look_beneath_a_file) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_openat, fd, "x", O_RDONLY), ENOTDIR, "openat beneath a file");
}

CHECK(refuses_more_than_the_limit_of_descriptors) {
    int next = (int)works(dup(0), "dup");
    close(next);
    struct rlimit limit = {(rlim_t)next, (rlim_t)next};
    works(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    refuses(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY), EMFILE, "openat at the limit");
}

CHECKS
