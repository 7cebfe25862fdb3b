/* Memory can be given back and is zero afterwards (madvise MADV_DONTNEED). */
#define CAPABILITY "memory_give_back"
#include "_runner_c.h"

#include <sys/mman.h>

static void exercise(void) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        blocked("mmap");
    page[0] = 'x';
    if (madvise(page, 4096, MADV_DONTNEED) < 0)
        blocked("madvise MADV_DONTNEED");
    if (page[0] != 0)
        faulty("the page kept its contents");
    allowed("gave a page back");
}

PROBE(exercise)
