/* A process can name itself (PR_SET_NAME). */
#define CAPABILITY "process_rename_self"
#include "_runner_c.h"

#include <string.h>
#include <sys/prctl.h>

static void exercise(void) {
    char name[16] = "";
    if (prctl(PR_SET_NAME, "specimen", 0, 0, 0) < 0 || prctl(PR_GET_NAME, name, 0, 0, 0) < 0)
        blocked("PR_SET_NAME");
    if (strcmp(name, "specimen") != 0)
        faulty("another name came back");
    allowed("took a name");
}

PROBE(exercise)
