/* Work for guests whose time is taken from outside: `work getppid N`, `work stat N`, `work open N`,
 * `work create N` in /tmp. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char visible[] = "/usr/bin/env";
static const char made[] = "/tmp/wardian-bench-made";

static int call_getppid(void) {
    return syscall(SYS_getppid) < 0;
}

static int call_stat(void) {
    struct stat st;
    return stat(visible, &st);
}

static int call_open(void) {
    int fd = open(visible, O_RDONLY | O_CLOEXEC);
    return fd < 0 || close(fd);
}

static int call_create(void) {
    int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 || close(fd) || unlink(made);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*call)(void);
    } works[] = {{"getppid", call_getppid},
                 {"stat", call_stat},
                 {"open", call_open},
                 {"create", call_create}};
    long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    for (size_t i = 0; count > 0 && i < sizeof works / sizeof *works; i++)
        if (strcmp(argv[1], works[i].name) == 0) {
            for (long n = 0; n < count; n++)
                if (works[i].call())
                    return 1;
            return 0;
        }
    return 2;
}
