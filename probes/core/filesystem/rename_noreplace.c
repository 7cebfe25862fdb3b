/* A file can be renamed unless the new name is taken (renameat2 with RENAME_NOREPLACE). */
#define CAPABILITY "filesystem_rename_noreplace"
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
    int result = renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_NOREPLACE), number = errno;
    unlink(first);
    unlink(second);
    if (result == 0)
        faulty("a file that was there was replaced");
    if (number != EEXIST)
        blocked_with(number, "renameat2 RENAME_NOREPLACE");
    allowed("a taken name is kept");
}

PROBE(exercise)
