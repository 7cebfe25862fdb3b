/* Threads can be started and joined. */
#define CAPABILITY "process_threads"
#include "_runner_c.h"

#include <pthread.h>

static void *work(void *argument) {
    return (char *)argument + 1;
}

static void exercise(void) {
    pthread_t threads[16];
    void *result;
    for (long i = 0; i < 16; i++) {
        int number = pthread_create(&threads[i], NULL, work, (void *)i);
        if (number)
            blocked_with(number, "pthread_create");
    }
    for (long i = 0; i < 16; i++)
        if (pthread_join(threads[i], &result) || result != (void *)(i + 1))
            faulty("a thread gave a wrong result");
    allowed("16 threads gave their results");
}

PROBE(exercise)
