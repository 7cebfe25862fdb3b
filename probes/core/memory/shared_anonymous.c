/* Memory can be shared with one's children (MAP_SHARED|MAP_ANONYMOUS). */
#define CAPABILITY "memory_shared_anonymous"
#include "_runner_c.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    int *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        blocked("mmap MAP_SHARED");
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        *shared = 42;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    if (*shared != 42)
        faulty("what the child wrote did not come");
    allowed("a child wrote, the parent read");
}

PROBE(exercise)
