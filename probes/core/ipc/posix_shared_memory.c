/* Processes can share memory by name (shm_open). */
#define CAPABILITY "ipc_posix_shared_memory"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void exercise(void) {
    char name[64];
    snprintf(name, sizeof name, "/wardian-probe-%d", (int)getpid());
    int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0)
        blocked("shm_open");
    shm_unlink(name);
    if (ftruncate(fd, 4096) < 0)
        blocked("ftruncate");
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        blocked("mmap");
    shared[0] = 'x';
    allowed("made, mapped and removed shared memory");
}

PROBE(exercise)
