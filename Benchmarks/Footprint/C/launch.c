/* Runs a program from a small process, and prints what it cost: start and end (CLOCK_MONOTONIC, ns), peak memory (KiB),
 * user and system time (us), exit status. A large parent's memory would be counted as its child's. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int arguments, char **argument) {
    if (arguments < 2) return 2;
    pid_t child;
    int status;
    struct rusage usage;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    long long start = now();
    if (posix_spawn(&child, argument[1], &actions, NULL, argument + 1, environ) != 0) return 2;
    if (wait4(child, &status, 0, &usage) != child) return 2;
    long long end = now();
    printf("%lld %lld %ld %ld %ld %d\n", start, end, usage.ru_maxrss,
           usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec,
           usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec, status);
    return 0;
}
