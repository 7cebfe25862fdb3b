/* Code can be made at run time and run: written first, then made executable, as JITs do. */
#define CAPABILITY "memory_map_execute"
#include "_runner_c.h"

#include <string.h>
#include <sys/mman.h>

#ifdef __x86_64__
static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov eax, 42; ret */
#elif defined __aarch64__
static const unsigned char code[] = {0x40, 0x05, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#endif

static void run(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        blocked("mmap");
    memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
        blocked("mprotect PROT_EXEC");
    __builtin___clear_cache(page, (char *)page + sizeof code);
    if (((int (*)(void))page)() != 42)
        faulty("the code gave something else");
    allowed("ran code that it made");
}

static void exercise(void) {
    in_child(run);
}

PROBE(exercise)
