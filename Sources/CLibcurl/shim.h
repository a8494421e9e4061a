/* What Swift cannot import by itself: libcurl's variadic functions, epoll, and the three functions of each
 * decompression library. Nothing here decides anything. */
#pragma once
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87.0 or newer is needed"
#endif

/* curl_easy_setopt, one function for each kind of value. */
static inline CURLcode errand_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode errand_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode errand_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode errand_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}

/* The callbacks of an easy handle. */
typedef CURLcode (*errand_tls_context_callback)(CURL *handle, void *tls, void *context);
typedef curl_socket_t (*errand_open_callback)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*errand_close_callback)(void *context, curl_socket_t socket);
static inline CURLcode errand_set_tls_context_callback(
    CURL *handle, errand_tls_context_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}
static inline CURLcode errand_set_open_callback(CURL *handle, errand_open_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}
static inline CURLcode errand_set_close_callback(CURL *handle, errand_close_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}
/* curl_easy_getinfo. */
static inline CURLcode errand_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode errand_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode errand_get_socket(CURL *handle, curl_socket_t *value) {
    return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, value);
}
static inline CURLcode errand_get_string(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}

/* OpenSSL's object of the handle's connection; NULL without one, and with another TLS library. */
static inline void *errand_get_tls(CURL *handle) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

static inline curl_version_info_data *errand_version_info(void) {
    return curl_version_info(CURLVERSION_NOW);
}

/* A share object for TLS sessions alone, used by one thread; NULL when there is no memory for it. */
static inline CURLSH *errand_share_sessions(void) {
    CURLSH *share = curl_share_init();
    if (share && curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK) {
        curl_share_cleanup(share);
        return NULL;
    }
    return share;
}

/* The multi handle. */
typedef int (*errand_socket_callback)(
    CURL *handle, curl_socket_t socket, int interest, void *context, void *socket_context);
typedef int (*errand_timer_callback)(CURLM *multi, long milliseconds, void *context);

/* Runs all transfers, and reports changes of their sockets, which `curl_multi_perform` does not. Deprecated for its
 * cost; nothing replaces it where libcurl has missed an event. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline CURLMcode errand_multi_run_all(CURLM *multi, int *running) {
    return curl_multi_socket_all(multi, running);
}
#pragma clang diagnostic pop
static inline CURLMcode errand_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode errand_multi_set_callbacks(
    CURLM *multi, errand_socket_callback socket, errand_timer_callback timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return code;
}
static inline CURLcode errand_message_result(const CURLMsg *message) { return message->data.result; }

#ifdef __linux__
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static inline int errand_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int errand_eventfd_create(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline int errand_epoll_add(int set, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}
static inline int errand_epoll_modify(int set, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event);
}
static inline int errand_epoll_remove(int set, int descriptor) {
    return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
}
static inline int errand_event_descriptor(const struct epoll_event *event) { return event->data.fd; }
static inline uint32_t errand_event_flags(const struct epoll_event *event) { return event->events; }
static const uint32_t errand_epoll_in = EPOLLIN, errand_epoll_out = EPOLLOUT,
                      errand_epoll_failure = EPOLLERR | EPOLLHUP;
int pthread_setname_np(pthread_t thread, const char *name);
static inline void errand_name_thread(const char *name) {
    char shortened[16];
    strncpy(shortened, name, sizeof shortened - 1);
    shortened[sizeof shortened - 1] = 0;
    pthread_setname_np(pthread_self(), shortened);
}
static inline int errand_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
/* The bytes that a socket has accepted and that the peer has not acknowledged. */
typedef struct {
    uint64_t acknowledged; /* from an arbitrary start */
    uint32_t waiting, silence /* milliseconds since the last acknowledgement */;
    int has_times;
} errand_send_queue;
static inline int errand_get_send_queue(int socket, errand_send_queue *queue) {
    int waiting = 0;
    if (ioctl(socket, TIOCOUTQ, &waiting) != 0 || waiting < 0) return -1;
    queue->waiting = (uint32_t)waiting;
    /* Linux's struct tcp_info, whose fields never move: tcpi_last_ack_recv and tcpi_bytes_acked (from 4.1). The headers
     * of the system and of Linux that declare it exclude each other. */
    unsigned char info[128];
    socklen_t length = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, 11 /* TCP_INFO */, info, &length) == 0 && length == sizeof info) {
        memcpy(&queue->silence, info + 56, sizeof queue->silence);
        memcpy(&queue->acknowledged, info + 120, sizeof queue->acknowledged);
        queue->has_times = 1;
    } else {
        /* A Unix socket. Of its own bytes alone, fewer wait after an acknowledgement. */
        queue->acknowledged = (uint64_t)1 << 62;
        queue->acknowledged -= queue->waiting;
        queue->has_times = 0;
    }
    return 0;
}
#endif

/* The libraries are opened at run time, where libcurl's own dependencies have brought them, so that no further
 * development package is needed to build. */
typedef void *(*errand_brotli_create)(void *allocate, void *release, void *opaque);
typedef int (*errand_brotli_decode)(
    void *state, size_t *available_in, const uint8_t **next_in, size_t *available_out,
    uint8_t **next_out, size_t *total_out);
typedef void (*errand_brotli_destroy)(void *state);

typedef struct { void *bytes; size_t size, position; } errand_zstd_output;
typedef struct { const void *bytes; size_t size, position; } errand_zstd_input;
typedef void *(*errand_zstd_create)(void);
typedef size_t (*errand_zstd_set_parameter)(void *stream, int parameter, int value);
typedef size_t (*errand_zstd_decode)(void *stream, errand_zstd_output *, errand_zstd_input *);
typedef size_t (*errand_zstd_destroy)(void *stream);
typedef unsigned (*errand_zstd_is_error)(size_t code);
