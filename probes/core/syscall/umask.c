/* umask: the bits that new files will not have. */
#define CAPABILITY "syscall_umask"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static mode_t mode_of_new_file(const char *name) {
    struct stat facts;
    own_directory();
    int fd = (int)works(open(name, O_CREAT | O_WRONLY, 0777), "open");
    works(fstat(fd, &facts), "fstat");
    return facts.st_mode & 07777;
}

CHECK(takes_bits_from_new_files) {
    own_directory();
    syscall(SYS_umask, 027);
    want(mode_of_new_file("file") == 0750, "mode %o", mode_of_new_file("other"));
}

CHECK(reports_the_one_before) {
    syscall(SYS_umask, 027);
    want(syscall(SYS_umask, 022) == 027, "it was another");
}

CHECK(cuts_what_are_no_permissions) {
    syscall(SYS_umask, 07777);
    want(syscall(SYS_umask, 0) == 0777, "it kept more");
}

CHECK(is_handed_to_children) {
    syscall(SYS_umask, 077);
    if (fork() == 0)
        _exit(syscall(SYS_umask, 0) == 077 ? 0 : 1);
    int status;
    works(wait(&status), "wait");
    want(status == 0, "the child has another");
    want(syscall(SYS_umask, 0) == 077, "the child changed its parent's");
}

CHECKS
