/* fsopen: a file system that is still to be set up. */
#define CAPABILITY "syscall_fsopen"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_an_unknown_type) {
    own_mounts();
    refuses(syscall(SYS_fsopen, "glassfs", 0), ENODEV, "fsopen of glassfs");
}

CHECK(gives_a_descriptor_to_set_it_up) {
    own_mounts();
    int fd = (int)works(syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC), "fsopen");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not marked for closing");
    char message[64];
    refuses(read(fd, message, sizeof message), ENODATA, "read of a message though there is none");
}

CHECK(refuses_unknown_flags) {
    own_mounts();
    refuses(syscall(SYS_fsopen, "tmpfs", 1 << 20), EINVAL, "fsopen with 1 << 20");
}

CHECK(refuses_a_bad_address) {
    own_mounts();
    refuses(syscall(SYS_fsopen, (void *)8, 0), EFAULT, "fsopen of the name at 8");
}

CHECKS
