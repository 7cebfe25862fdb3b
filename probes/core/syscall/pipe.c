/* pipe: a pipe. */
#define CAPABILITY "syscall_pipe"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_pipe

CHECK(carries_bytes_from_end_to_end) {
    int ends[2];
    char bytes[8];
    works(syscall(SYS_pipe, ends), "pipe");
    works(write(ends[1], "glass", 5), "write");
    want(read(ends[0], bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(gives_two_descriptors_that_stay_open) {
    int ends[2];
    works(syscall(SYS_pipe, ends), "pipe");
    want(fcntl(ends[0], F_GETFD) == 0 && fcntl(ends[1], F_GETFD) == 0, "marked for closing");
    want(fcntl(ends[0], F_GETFL) == O_RDONLY, "the first is not for reading");
    want(fcntl(ends[1], F_GETFL) == O_WRONLY, "the second is not for writing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_pipe, (void *)8), EFAULT, "pipe to 8");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no pipe");
}

#endif

CHECKS
