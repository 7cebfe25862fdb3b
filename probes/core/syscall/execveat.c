/* execveat: a program by descriptor, and relative to a directory. */
#define CAPABILITY "syscall_execveat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *arguments[] = {"sh", "-c", "exit 42", NULL}, *environment[] = {NULL};

static long run(int directory, const char *path, int flags) {
    return syscall(SYS_execveat, directory, path, arguments, environment, flags);
}

/* The exit code of what runs. */
static int code(int directory, const char *path, int flags) {
    pid_t pid = fork();
    if (pid == 0)
        works(run(directory, path, flags), "execveat");
    int status = end_of((int)works(pid, "fork"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int opened(const char *path, int flags) {
    return (int)works(open(path, flags), path);
}

CHECK(runs_a_program_in_a_directory) {
    want(code(opened("/bin", O_PATH | O_DIRECTORY), "sh", 0) == 42, "another end");
}

CHECK(runs_a_program_in_the_working_directory) {
    works(chdir("/bin"), "chdir");
    want(code(AT_FDCWD, "sh", 0) == 42, "another end");
}

CHECK(takes_no_heed_of_the_directory_for_an_absolute_path) {
    want(code(-1, "/bin/sh", 0) == 42, "another end");
}

CHECK(runs_what_a_descriptor_stands_for) {
    want(code(opened("/bin/sh", O_RDONLY), "", AT_EMPTY_PATH) == 42, "another end");
    want(code(opened("/bin/sh", O_PATH | O_CLOEXEC), "", AT_EMPTY_PATH) == 42, "another end");
}

CHECK(runs_a_program_from_memory) {
    int from = opened("/bin/sh", O_RDONLY);
    int to = (int)works(memfd_create("sh", 0), "memfd_create");
    char bytes[65536];
    for (ssize_t size; (size = read(from, bytes, sizeof bytes)) > 0;)
        want(write(to, bytes, (size_t)size) == size, "write");
    want(code(to, "", AT_EMPTY_PATH) == 42, "another end");
}

/* An open script in a directory of its own; nothing of it is left. */
static int script(int flags) {
    char path[512];
    strcpy(path, scratch("execveat"));
    int fd = (int)works(open(path, O_CREAT | O_WRONLY | O_EXCL, 0700), "open");
    works(write(fd, "#!/bin/sh\nexit 6\n", 17), "write");
    close(fd);
    fd = opened(path, flags);
    unlink(path);
    return fd;
}

CHECK(runs_a_script_by_descriptor) {
    want(code(script(O_RDONLY), "", AT_EMPTY_PATH) == 6, "another end");
}

CHECK(refuses_a_script_whose_descriptor_will_be_closed) {
    refuses(run(script(O_RDONLY | O_CLOEXEC), "", AT_EMPTY_PATH), ENOENT,
            "a script by a descriptor that exec closes");
}

CHECK(refuses_an_empty_path_unasked) {
    refuses(run(opened("/bin/sh", O_RDONLY), "", 0), ENOENT, "an empty path");
}

CHECK(refuses_to_follow_a_link_if_asked) {
    char path[512];
    strcpy(path, scratch("link"));
    works(symlink("/bin/sh", path), "symlink");
    int fine = code(AT_FDCWD, path, 0);
    long result = run(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW);
    int got = errno;
    unlink(path);
    want(fine == 42, "a link is not followed unasked");
    errno = got;
    refuses(result, ELOOP, "a link with AT_SYMLINK_NOFOLLOW");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(run(-1, "sh", 0), EBADF, "directory -1");
    refuses(run(-1, "", AT_EMPTY_PATH), EBADF, "descriptor -1");
}

CHECK(refuses_a_file_as_directory) {
    refuses(run(opened("/bin/sh", O_RDONLY), "sh", 0), ENOTDIR, "a file as directory");
}

CHECK(refuses_unknown_flags) {
    refuses(run(AT_FDCWD, "/bin/sh", 0x40000000), EINVAL, "flag 0x40000000");
}

CHECK(refuses_a_directory_as_program) {
    refuses(run(opened("/", O_RDONLY), "", AT_EMPTY_PATH), EACCES, "a directory");
}

CHECK(refuses_what_is_not_there) {
    refuses(run(opened("/bin", O_PATH), "nothing-of-this-name", 0), ENOENT, "no such program");
}

CHECK(refuses_a_bad_address) {
    refuses(run(AT_FDCWD, (char *)8, 0), EFAULT, "a path at address 8");
}

CHECKS
