# The input files of popular.toml, made in the current directory: always the same bytes and times.
set -e
umask 022
seq 1 2000 > numbers.txt
printf '%s\n' alpha bravo charlie delta echo foxtrot golf hotel 'été' 'two words' alpha > words.txt
printf 'region,amount\nnorth,10.50\nsouth,20\nnorth,1.25\neast,7\n' > table.csv
printf '{"b": {"x": null}, "a": [2, 1, 3], "c": "\\u00e9"}\n' > data.json
printf '<?xml version="1.0"?>\n<a><b k="1">one</b><b>two</b></a>\n' > page.xml
cat > a.c <<'X'
#include <math.h>
#include <pthread.h>
#include <stdio.h>
static void *square(void *at) { *(double *)at = sqrt(*(double *)at); return at; }
int main(void) {
    double value = 1764;
    pthread_t thread;
    pthread_create(&thread, 0, square, &value);
    pthread_join(thread, 0);
    printf("the sum is %g\n", value);
    return 0;
}
X
mkdir -p tree/deep/er tree/empty
printf 'a needle here\n' > tree/deep/file
printf 'nothing\n' > tree/deep/er/other.txt
printf 'hidden\n' > tree/.hidden
printf '#!/bin/sh\necho run\n' > tree/run
chmod 755 tree/run
ln -s deep/file tree/link
ln -s gone tree/dangling
{ printf 'P6\n16 16\n255\n'; seq 1000 1255 | tr -d '\n' | head -c 768; } > picture.ppm
find . -exec touch -h -d @1700000000 {} +
