/* A file can be made among the system's programs, in /usr, by system calls. */
#define CAPABILITY "filesystem_usr_write"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void exercise(void) {
    char path[64];
    snprintf(path, sizeof path, "/usr/.wardian-probe-%d", (int)getpid());
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd < 0)
        blocked("open in /usr");
    unlink(path);
    allowed("made and removed a file in /usr");
}

PROBE(exercise)
