/* call NUMBER ARG...: one system call by number; prints what it returned and the name of its errno.
 * An argument is a number, or s: and a string. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned long args[6] = {0};
    for (int i = 2; i < argc && i < 8; i++)
        args[i - 2] = strncmp(argv[i], "s:", 2) == 0 ? (unsigned long)(argv[i] + 2)
                                                     : strtoul(argv[i], NULL, 0);
    if (argc < 2)
        return 2;
    errno = 0;
    long result = syscall((long)strtoul(argv[1], NULL, 0), args[0], args[1], args[2], args[3],
                          args[4], args[5]);
    printf("%ld %s\n", result, errno ? strerrorname_np(errno) : "0");
    return 0;
}
