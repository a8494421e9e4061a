/* The reference: libcurl's multi interface in C, curl_multi_socket_action with epoll, reused easy handles.
 *
 *     PlainCurl WORKLOAD COUNT IN_FLIGHT URL SIZE
 *
 * Downloads (workloads D...) go to the file of the variable HTTP_BENCH_FILE; with a final "h" sha256sum reads it.
 * Prints one line of JSON. Checks that every response has status 200 and SIZE bytes. */
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct transfer {
    CURL *handle;
    char *body;
    size_t length, capacity;
};

static CURLM *multi;
static int poller;
static long timer = -1;
static long total, started, finished, bad;
static size_t expected;
/* Whether bodies are counted and not kept, as for a stream. */
static int discards;
/* The request body of W6u, and the moment at which the memory of W6w's waiting requests is read. */
static const char *upload;
static double sample_at;
/* The file of a download, and whether its digest is computed. */
static const char *path;
static int file = -1, hashes;
static char growth[256];

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage usage;
    double sum = 0;
    for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
        getrusage(who, &usage);
        sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return sum;
}

static long memory(const char *name) {
    char line[256], format[64];
    long kilobytes = 0;
    snprintf(format, sizeof format, "%s: %%ld", name);
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, format, &kilobytes);
    if (status) fclose(status);
    return kilobytes;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *it = context;
    size_t more = size * count;
    if (file >= 0 && write(file, bytes, more) != (ssize_t)more) return 0;
    if (discards) {
        it->length += more;
        return more;
    }
    if (it->length + more > it->capacity) {
        it->capacity = (it->length + more) * 2;
        it->body = realloc(it->body, it->capacity);
        if (!it->body) return 0;
    }
    memcpy(it->body + it->length, bytes, more);
    it->length += more;
    return more;
}

static size_t on_read(char *bytes, size_t size, size_t count, void *context) {
    ssize_t read_count = read(*(int *)context, bytes, size * count);
    return read_count < 0 ? CURL_READFUNC_ABORT : (size_t)read_count;
}

static int on_socket(CURL *handle, curl_socket_t socket, int what, void *context, void *known) {
    (void)handle, (void)context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller, EPOLL_CTL_DEL, socket, NULL);
        curl_multi_assign(multi, socket, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(poller, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    if (!known) curl_multi_assign(multi, socket, &poller);
    return 0;
}

static int on_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timer = milliseconds;
    return 0;
}

static void start(struct transfer *it) {
    if (started >= total) return;
    started++;
    it->length = 0;
    if (path) file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    curl_multi_add_handle(multi, it->handle);
}

static void note_growth(void) {
    if (finished != 1000 && finished != 10000 && finished != 100000) return;
    size_t used = strlen(growth);
    snprintf(growth + used, sizeof growth - used, ", \"rss_%ld_kb\": %ld", finished, memory("VmRSS"));
}

static void collect(void) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        struct transfer *it;
        long status = 0;
        CURLcode result = message->data.result;
        CURL *handle = message->easy_handle;
        curl_easy_getinfo(handle, CURLINFO_PRIVATE, &it);
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi, handle);
        if (file >= 0) close(file);
        char command[512];
        snprintf(command, sizeof command, "sha256sum '%s' > /dev/null", path ? path : "");
        if (hashes && system(command) != 0) bad++;
        if (result != CURLE_OK || status != 200 || it->length != expected) bad++;
        finished++;
        note_growth();
        start(it);
    }
}

static void run(void) {
    int running;
    while (finished < total) {
        if (sample_at > 0 && seconds() > sample_at) {
            snprintf(growth, sizeof growth, ", \"rss_waiting_kb\": %ld", memory("VmRSS"));
            sample_at = 0;
        }
        if (timer == 0) {
            timer = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
            collect();
            continue;
        }
        struct epoll_event events[128];
        int count = epoll_wait(poller, events, 128, timer < 0 || timer > 100 ? 100 : (int)timer);
        if (count == 0) {
            timer = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int i = 0; i < count; i++) {
            int what = 0;
            if (events[i].events & EPOLLIN) what |= CURL_CSELECT_IN;
            if (events[i].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
            if (events[i].events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
            curl_multi_socket_action(multi, events[i].data.fd, what, &running);
        }
        collect();
    }
}

int main(int count, char **arguments) {
    if (count < 6) {
        fprintf(stderr, "usage: PlainCurl WORKLOAD COUNT IN_FLIGHT URL SIZE\n");
        return 2;
    }
    const char *workload = arguments[1];
    const char *authorities = getenv("HTTP_BENCH_CA");
    long in_flight = atol(arguments[3]);
    total = atol(arguments[2]);
    expected = (size_t)atol(arguments[5]);
    int downloads = workload[0] == 'D';
    discards = workload[0] == 'S' || downloads || strcmp(workload, "W6d") == 0;
    if (strcmp(workload, "W6u") == 0) upload = getenv("HTTP_BENCH_UPLOAD");
    if (downloads) path = getenv("HTTP_BENCH_FILE");
    hashes = downloads && workload[strlen(workload) - 1] == 'h';
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    poller = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, in_flight + 8);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);

    double cpu_before = cpu(), before = seconds();
    for (long i = 0; i < in_flight; i++) {
        struct transfer *it = calloc(1, sizeof *it);
        if (!it) return 1;
        it->handle = curl_easy_init();
        curl_easy_setopt(it->handle, CURLOPT_URL, arguments[4]);
        curl_easy_setopt(it->handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(it->handle, CURLOPT_PROXY, "");
        curl_easy_setopt(it->handle, CURLOPT_WRITEFUNCTION, on_body);
        curl_easy_setopt(it->handle, CURLOPT_WRITEDATA, it);
        curl_easy_setopt(it->handle, CURLOPT_PRIVATE, it);
        if (authorities) {
            long version = strcmp(workload, "W6h1") ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
            curl_easy_setopt(it->handle, CURLOPT_CAINFO, authorities);
            curl_easy_setopt(it->handle, CURLOPT_HTTP_VERSION, version);
            /* All requests share one connection. */
            curl_easy_setopt(it->handle, CURLOPT_PIPEWAIT, 1L);
        }
        if (upload) {
            static int body;
            struct stat status;
            body = open(upload, O_RDONLY | O_CLOEXEC);
            if (body < 0 || fstat(body, &status) != 0) return 1;
            curl_easy_setopt(it->handle, CURLOPT_UPLOAD, 1L);
            curl_easy_setopt(it->handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
            curl_easy_setopt(it->handle, CURLOPT_READFUNCTION, on_read);
            curl_easy_setopt(it->handle, CURLOPT_READDATA, &body);
            curl_easy_setopt(it->handle, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
        }
        start(it);
    }
    if (strcmp(workload, "W6w") == 0) sample_at = seconds() + 1.5;
    run();
    double wall = seconds() - before, used = cpu() - cpu_before;
    printf("{\"workload\": \"%s\", \"count\": %ld, \"cpu_s\": %.4f, \"wall_s\": %.4f, \"rss_peak_kb\": %ld, \"bad\": %ld%s}\n",
        workload, total, used, wall, memory("VmHWM"), bad, growth);
    return bad != 0;
}
