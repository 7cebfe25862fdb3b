/* burn KIND SECONDS: uses processor time, or outlasts its time, in one of many ways. Says "burnt"
 * once that much processor time is used. Everything ends by itself after MOST_S. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_S = 15 };
static double seconds;

static double clock_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void spin(double cpu_s) {
    double end = clock_s(CLOCK_PROCESS_CPUTIME_ID) + cpu_s;
    while (clock_s(CLOCK_PROCESS_CPUTIME_ID) < end)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

static void one(void) { spin(seconds); }

/* One after another, each well below the limit. */
static void relay_of_children(int quantum_ms) {
    int count = (int)(seconds * 1000 / quantum_ms);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            spin(quantum_ms / 1000.0);
            _exit(0);
        }
        while (waitpid(child, NULL, 0) > 0)
            ;
    }
}

static void children(void) { relay_of_children(200); }

/* Their time is added to nobody's: who ignores SIGCHLD does not collect it, getrusage(2). */
static void unclaimed_children(void) {
    signal(SIGCHLD, SIG_IGN);
    relay_of_children(20);
}

static void *spin_in_thread(void *arg) {
    for (double end = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds / 4;
         clock_s(CLOCK_THREAD_CPUTIME_ID) < end;)
        for (volatile int i = 0; i < 20000; i++)
            ;
    return arg;
}

static void threads(void) {
    pthread_t each[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&each[i], NULL, spin_in_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(each[i], NULL);
}

/* Ways to outlast the clock on the wall. */
static void ignoring(void) {
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    sleep((unsigned)seconds);
}

static void stopped(void) {
    pid_t child = fork();
    if (child == 0) {
        sleep((unsigned)seconds);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static void new_session(void) {
    if (fork()) {
        wait(NULL);
        return;
    }
    setsid();
    sleep((unsigned)seconds);
    puts("outlasted");
    fflush(stdout);
    _exit(0);
}

static void twice_forked(void) {
    if (fork()) {
        sleep((unsigned)seconds + 1);
        return;
    }
    setsid();
    if (fork())
        _exit(0);
    signal(SIGHUP, SIG_IGN);
    sleep((unsigned)seconds);
    puts("outlasted");
    fflush(stdout);
    _exit(0);
}

/* The parent sleeps in the kernel until the child is done with its memory. */
static void vforked(void) {
    if (vfork() == 0) {
        struct timespec span = {(time_t)seconds, 0};
        nanosleep(&span, NULL);
        _exit(0);
    }
}

/* Makes measuring the tree slow: many processes, each with very many mappings. */
static void hard_to_measure(void) {
    enum { MAPPINGS = 10000, PROCESSES = 60 };
    for (int i = 0; i < MAPPINGS; i++) {
        char *at = mmap(NULL, 4096, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            break;
        *at = 1;
    }
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            alarm(MOST_S);
            for (;;)
                pause();
        }
    sleep((unsigned)seconds);
}

static const struct {
    const char *name;
    void (*burn)(void);
} kinds[] = {
    {"one", one},           {"children", children}, {"unclaimed", unclaimed_children},
    {"threads", threads},   {"ignoring", ignoring}, {"stopped", stopped},
    {"session", new_session}, {"forked", twice_forked}, {"vforked", vforked},
    {"measured", hard_to_measure},
};

int main(int argc, char **argv) {
    alarm(MOST_S);
    seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].burn();
            puts("burnt");
            return 0;
        }
    fputs("usage: burn KIND SECONDS\n", stderr);
    return 2;
}
