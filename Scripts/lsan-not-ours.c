// Tells LeakSanitizer which leaks are not ours, or none, for `make asan` on Linux.
//
// The processes of exit tests end while their threads are still letting go of things: what is referenced there, or through
// the side table of a weak reference, looks lost. They end without a look; the same code is looked at in all other tests.
//
// swift-corelibs-foundation 6.3.1 takes the URL of each request apart with curl_url() and never lets go of the parts. Of
// where they were made LeakSanitizer sees no more than libcurl, which is built without frame pointers; and to suppress
// libcurl would hide every leak of our own transport. So what these two functions allocate is not looked at. Nothing of
// ours calls them: `Scripts/run-sanitized` looks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Missing where a process without the sanitizer inherits the environment.
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

typedef void Exit(int status);
typedef void *Make(void);
typedef int Set(void *url, int part, const char *text, unsigned int flags);

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

void *curl_url(void) {
    if (__lsan_disable) __lsan_disable();
    void *url = ((Make *)next("curl_url"))();
    if (__lsan_enable) __lsan_enable();
    return url;
}

int curl_url_set(void *url, int part, const char *text, unsigned int flags) {
    if (__lsan_disable) __lsan_disable();
    int code = ((Set *)next("curl_url_set"))(url, part, text, flags);
    if (__lsan_enable) __lsan_enable();
    return code;
}

static int endsWithoutALook;

// Swift Testing takes the variable away once it knows.
__attribute__((constructor)) static void begin(void) {
    endsWithoutALook = __lsan_disable && getenv("SWT_EXIT_TEST_ID");
}

void exit(int status) {
    if (endsWithoutALook) {
        fflush(NULL);
        _exit(status);
    }
    ((Exit *)next("exit"))(status);
    abort();
}
