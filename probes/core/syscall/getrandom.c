/* getrandom: random bytes, with and without waiting. */
#define CAPABILITY "syscall_getrandom"
#include "_runner_c.h"

#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef GRND_INSECURE
#define GRND_INSECURE 4
#endif

static unsigned char bytes[4096], others[4096];

CHECK(gives_other_bytes_each_time) {
    want(works(syscall(SYS_getrandom, bytes, 32, 0), "getrandom") == 32, "not 32 bytes");
    want(works(syscall(SYS_getrandom, others, 32, 0), "getrandom") == 32, "not 32 bytes");
    want(memcmp(bytes, others, 32) != 0, "the same bytes");
}

CHECK(gives_all_values) {
    int seen[256] = {0}, values = 0;
    want(syscall(SYS_getrandom, bytes, sizeof bytes, 0) == sizeof bytes, "not so many");
    for (size_t i = 0; i < sizeof bytes; i++)
        values += seen[bytes[i]]++ == 0;
    want(values > 200, "%d values in 4096 bytes", values);
}

CHECK(writes_no_more_than_asked_for) {
    works(syscall(SYS_getrandom, bytes, 16, 0), "getrandom");
    want(bytes[16] == 0 && bytes[17] == 0 && bytes[18] == 0, "it wrote on");
}

CHECK(gives_bytes_without_waiting) {
    want(works(syscall(SYS_getrandom, bytes, 16, GRND_NONBLOCK), "getrandom") == 16, "not 16");
    want(works(syscall(SYS_getrandom, bytes, 16, GRND_INSECURE), "getrandom") == 16, "not 16");
    want(works(syscall(SYS_getrandom, bytes, 16, GRND_RANDOM), "getrandom") == 16, "not 16");
}

CHECK(gives_nothing_if_asked_for_nothing) {
    want(works(syscall(SYS_getrandom, bytes, 0, 0), "getrandom") == 0, "not 0");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_getrandom, bytes, 1, 64), EINVAL, "flag 64");
    refuses(syscall(SYS_getrandom, bytes, 1, GRND_RANDOM | GRND_INSECURE), EINVAL, "two kinds");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getrandom, (void *)8, 16, 0), EFAULT, "at 8");
}

CHECKS
