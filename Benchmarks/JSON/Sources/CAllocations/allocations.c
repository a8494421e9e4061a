#include "CAllocations.h"
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)
// The internal names of glibc's allocation functions, so that the public ones can be replaced.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static long count;

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count++;
    return __libc_realloc(old, size);
}

long allocation_count(void) { return count; }
#else
long allocation_count(void) { return -1; }
#endif
