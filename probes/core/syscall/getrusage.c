/* getrusage: what was used. */
#define CAPABILITY "syscall_getrusage"
#include "_runner_c.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct rusage usage;

static long time_used(int who) {
    works(syscall(SYS_getrusage, who, &usage), "getrusage");
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static volatile unsigned sum;

/* Until some time of the processor was used. */
static void work(void) {
    long before = time_used(RUSAGE_SELF);
    for (int i = 0; i < 10000 && time_used(RUSAGE_SELF) < before + 10000; i++)
        for (unsigned k = 0; k < 100000; k++)
            sum += k;
}

CHECK(counts_the_processs_time) {
    long before = time_used(RUSAGE_SELF);
    work();
    want(time_used(RUSAGE_SELF) >= before + 10000, "no time was counted");
}

CHECK(counts_the_most_memory) {
    size_t size = 32UL << 20;
    time_used(RUSAGE_SELF);
    long before = usage.ru_maxrss;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    want(at != MAP_FAILED, "no memory");
    memset(at, 1, size);
    time_used(RUSAGE_SELF);
    want(usage.ru_maxrss >= before + 16384, "%ld KiB after %ld", usage.ru_maxrss, before);
}

CHECK(counts_page_faults) {
    size_t size = 1UL << 20;
    time_used(RUSAGE_SELF);
    long before = usage.ru_minflt;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    want(at != MAP_FAILED, "no memory");
    memset(at, 1, size);
    time_used(RUSAGE_SELF);
    want(usage.ru_minflt > before, "no fault was counted");
}

CHECK(counts_children_that_were_waited_for) {
    want(time_used(RUSAGE_CHILDREN) == 0 && usage.ru_maxrss == 0, "there were none");
    pid_t child = child_that(work);
    end_of(child);
    want(time_used(RUSAGE_CHILDREN) > 0 && usage.ru_maxrss > 0, "nothing was counted");
}

static void *rest_in_thread(void *answer) {
    *(long *)answer = time_used(RUSAGE_THREAD);
    return NULL;
}

CHECK(counts_threads_apart) {
    pthread_t thread;
    long theirs = -1;
    work();
    want(pthread_create(&thread, NULL, rest_in_thread, &theirs) == 0, "no thread");
    pthread_join(thread, NULL);
    want(theirs >= 0 && theirs < time_used(RUSAGE_SELF), "the thread's is %ld", theirs);
}

CHECK(refuses_an_unknown_kind) {
    refuses(syscall(SYS_getrusage, 9, &usage), EINVAL, "kind 9");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getrusage, RUSAGE_SELF, 8), EFAULT, "address 8");
}

CHECKS
