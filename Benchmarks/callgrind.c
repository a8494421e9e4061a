/* Lets valgrind 3.19 run a program that uses libdispatch: valgrind writes into the caller's signal mask, which libdispatch keeps
   in memory that cannot be written. The main thread waits there for ever in any case. */
#include <signal.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    (void)mask;
    for (;;) pause();
}
