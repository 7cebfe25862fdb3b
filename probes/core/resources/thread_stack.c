/* A thread can have a stack of 64 MiB. */
#define CAPABILITY "resources_thread_stack"
#include "_runner_c.h"

#include <pthread.h>

static void *work(void *argument) {
    volatile char room[1 << 20];
    for (unsigned i = 0; i < sizeof room; i += 4096)
        room[i] = 1;
    return argument;
}

static void exercise(void) {
    pthread_t thread;
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 64 << 20);
    int number = pthread_create(&thread, &large, work, NULL);
    if (number)
        blocked_with(number, "pthread_create");
    pthread_join(thread, NULL);
    allowed("ran a thread with 64 MiB of stack");
}

PROBE(exercise)
