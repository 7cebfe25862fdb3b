/* Discards PATH while a guest, at the worst moment, exchanges its directories for links to VICTIM:
 * right after one could not be removed because it is not empty, before it is made ours. */
#define _GNU_SOURCE
#include "discard.h"
#include "monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 8 };

int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);

static const char *victim;
static int swapped;

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int __wrap_unlinkat(int dir, const char *name, int flags) {
    char moved[64];
    int result = __real_unlinkat(dir, name, flags), error = errno;
    if (result < 0 && error == ENOTEMPTY && name[0] == 'd') {
        snprintf(moved, sizeof moved, "was-%s-%d", name, swapped++);
        renameat(dir, name, dir, moved);
        if (symlinkat(victim, dir, name) < 0)
            swapped--;
    }
    errno = error;
    return result;
}

int main(int argc, char **argv) {
    char name[32];
    if (argc != 3)
        return 2;
    victim = argv[2];
    mkdir(argv[1], 0700);
    int dir = open(argv[1], O_PATH | O_DIRECTORY | O_NOFOLLOW);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "d%d", i);
        mkdirat(dir, name, 0700);
        snprintf(name, sizeof name, "d%d/d", i);
        mkdirat(dir, name, 0700);
        snprintf(name, sizeof name, "d%d/d/x", i);
        mkdirat(dir, name, 0700);
    }
    close(dir);
    discard_remember(argv[1]);
    discard_tree();
    printf("%d\n", swapped);
    return access(argv[1], F_OK) == 0;
}
