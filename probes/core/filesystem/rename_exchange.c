/* Two files can be exchanged atomically (renameat2 with RENAME_EXCHANGE). */
#define CAPABILITY "filesystem_rename_exchange"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void exercise(void) {
    char first[512], second[512];
    strcpy(first, scratch("first"));
    strcpy(second, scratch("second"));
    close(open(first, O_CREAT | O_EXCL | O_WRONLY, 0600));
    close(open(second, O_CREAT | O_EXCL | O_WRONLY, 0600));
    int result = renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE), number = errno;
    unlink(first);
    unlink(second);
    if (result < 0)
        blocked_with(number, "renameat2 RENAME_EXCHANGE");
    allowed("exchanged two files");
}

PROBE(exercise)
