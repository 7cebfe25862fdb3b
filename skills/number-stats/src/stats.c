/* Numbers on standard input, one per line: count, range, mean, deviation (Welford), histogram. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct numbers {
    double *values;
    size_t count, room;
};

static int add(struct numbers *all, double value)
{
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 4096;
        double *more = realloc(all->values, room * sizeof *more);
        if (!more)
            return -1;
        all->values = more;
        all->room = room;
    }
    all->values[all->count++] = value;
    return 0;
}

static int histogram(const struct numbers *all, double low, double high, size_t bins)
{
    size_t *counts = calloc(bins, sizeof *counts), most = 0;
    double width = (high - low) / (double)bins;
    if (!counts)
        return -1;
    for (size_t i = 0; i < all->count; i++) {
        size_t bin = width > 0 ? (size_t)((all->values[i] - low) / width) : 0;
        counts[bin < bins ? bin : bins - 1]++;
    }
    for (size_t i = 0; i < bins; i++)
        most = counts[i] > most ? counts[i] : most;
    for (size_t i = 0; i < bins; i++) {
        printf("%12g %9zu ", low + width * (double)i, counts[i]);
        for (size_t n = counts[i] * 40 / most; n > 0; n--)
            putchar('#');
        putchar('\n');
    }
    free(counts);
    return 0;
}

int main(int argc, char **argv)
{
    struct numbers all = {0};
    char *line = NULL;
    size_t size = 0, number = 0, bad = 0, bins = 0;
    double mean = 0, squares = 0, low = INFINITY, high = -INFINITY;

    if (argc == 3 && strcmp(argv[1], "--bins") == 0)
        bins = strtoul(argv[2], NULL, 10);
    if ((argc != 1 && argc != 3) || bins > 1000) {
        fprintf(stderr, "usage: stats [--bins N]\n");
        return 2;
    }
    while (getline(&line, &size, stdin) >= 0) {
        char *end;
        number++;
        errno = 0;
        double value = strtod(line, &end);
        end += strspn(end, " \t\r\n");
        if (end == line || *end || errno || !isfinite(value)) {
            if (++bad == 1)
                fprintf(stderr, "line %zu is no number\n", number);
            continue;
        }
        if (add(&all, value)) {
            fprintf(stderr, "not enough memory\n");
            return 1;
        }
        double step = value - mean;
        mean += step / (double)all.count;
        squares += step * (value - mean);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    free(line);
    if (all.count == 0) {
        fprintf(stderr, "no numbers\n");
        return 1;
    }
    double spread = all.count > 1 ? sqrt(squares / (double)(all.count - 1)) : 0;
    printf("count %zu\nmin %g\nmax %g\nmean %g\ndeviation %g\n", all.count, low, high, mean, spread);
    if (bad)
        printf("ignored %zu\n", bad);
    int failed = bins ? histogram(&all, low, high, bins) : 0;
    free(all.values);
    return failed ? 1 : 0;
}
