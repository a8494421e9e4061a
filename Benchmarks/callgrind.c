/* Lets valgrind 3.19 run a program that uses libdispatch. valgrind writes to the caller's signal mask, which libdispatch
   keeps in read-only memory. The main thread never returns from this call, so waiting without the mask is equivalent. */
#include <signal.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    (void)mask;
    for (;;) pause();
}
