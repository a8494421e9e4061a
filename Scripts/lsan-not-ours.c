// Excludes leaks outside Errand from LeakSanitizer's report, for `make asan` on Linux.
//
// Exit tests: their processes end while other threads still release memory. Objects that only those threads, or the
// side table of a weak reference, refer to would be reported as leaks. So these processes end without a leak check;
// all other tests check the same code.
//
// curl_url(): swift-corelibs-foundation 6.3.1 parses the URL of each request with curl_url() and never frees the
// result. LeakSanitizer's stack ends in libcurl, which is built without frame pointers, and suppressing libcurl would
// hide every leak of CurlTransport. So the allocations of these two functions are not checked if Foundation calls them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Weak: a child process without the sanitizer inherits LD_PRELOAD too.
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

// Whether a return address is in the library that contains URLSession.
static int isFoundation(const void *address) {
    Dl_info library;
    return __lsan_disable && dladdr(address, &library) && library.dli_fname &&
        strstr(library.dli_fname, "libFoundationNetworking");
}

void *curl_url(void) {
    int isExcluded = isFoundation(__builtin_return_address(0));
    if (isExcluded) __lsan_disable();
    void *url = ((Make *)next("curl_url"))();
    if (isExcluded) __lsan_enable();
    return url;
}

int curl_url_set(void *url, int part, const char *text, unsigned int flags) {
    int isExcluded = isFoundation(__builtin_return_address(0));
    if (isExcluded) __lsan_disable();
    int code = ((Set *)next("curl_url_set"))(url, part, text, flags);
    if (isExcluded) __lsan_enable();
    return code;
}

static int skipsLeakCheck;

// Swift Testing removes the variable after it has read it, so it is read in a constructor.
__attribute__((constructor)) static void begin(void) {
    skipsLeakCheck = __lsan_disable && getenv("SWT_EXIT_TEST_ID");
}

void exit(int status) {
    if (skipsLeakCheck) {
        fflush(NULL);
        _exit(status);
    }
    ((Exit *)next("exit"))(status);
    abort();
}
