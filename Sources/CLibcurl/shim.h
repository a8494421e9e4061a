/* What Swift cannot import by itself: libcurl's variadic functions, epoll, and the three functions of each
 * decompression library. Nothing here decides anything. */
#pragma once
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if LIBCURL_VERSION_NUM < 0x075100
#error "The headers of libcurl 7.81.0 or newer are needed, and 7.87.0 or newer at run time"
#endif

/* Options that older headers lack, and one that newer ones deprecate. The library decides at run time which exist. */
static const CURLoption errand_option_protocols = (CURLoption)(CURLOPTTYPE_LONG + 181),
                        errand_option_protocol_names = (CURLoption)(CURLOPTTYPE_STRINGPOINT + 318),
                        errand_option_quick_exit = (CURLoption)(CURLOPTTYPE_LONG + 322);

/* libcurl is opened at run time. Its variadic functions are called through their addresses, with one function for each
 * kind of value; `errand_variadic` is the type in which Swift keeps such an address. */
typedef void (*errand_variadic)(void);
#define ERRAND_EASY_SETOPT(function) ((CURLcode(*)(CURL *, CURLoption, ...))(function))
#define ERRAND_EASY_GETINFO(function) ((CURLcode(*)(CURL *, CURLINFO, ...))(function))
#define ERRAND_MULTI_SETOPT(function) ((CURLMcode(*)(CURLM *, CURLMoption, ...))(function))
#define ERRAND_SHARE_SETOPT(function) ((CURLSHcode(*)(CURLSH *, CURLSHoption, ...))(function))

/* curl_easy_setopt. */
static inline CURLcode errand_set_long(errand_variadic set, CURL *handle, CURLoption option, long value) {
    return ERRAND_EASY_SETOPT(set)(handle, option, value);
}
static inline CURLcode errand_set_pointer(
    errand_variadic set, CURL *handle, CURLoption option, const void *value) {
    return ERRAND_EASY_SETOPT(set)(handle, option, value);
}
static inline CURLcode errand_set_blob(
    errand_variadic set, CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return ERRAND_EASY_SETOPT(set)(handle, option, &blob);
}

/* The callbacks of an easy handle. */
typedef CURLcode (*errand_tls_context_callback)(CURL *handle, void *tls, void *context);
typedef curl_socket_t (*errand_open_callback)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*errand_close_callback)(void *context, curl_socket_t socket);
static inline CURLcode errand_set_tls_context_callback(
    errand_variadic set, CURL *handle, errand_tls_context_callback callback) {
    return ERRAND_EASY_SETOPT(set)(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}
static inline CURLcode errand_set_open_callback(
    errand_variadic set, CURL *handle, errand_open_callback callback) {
    return ERRAND_EASY_SETOPT(set)(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}
static inline CURLcode errand_set_close_callback(
    errand_variadic set, CURL *handle, errand_close_callback callback) {
    return ERRAND_EASY_SETOPT(set)(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

/* curl_easy_getinfo. */
static inline CURLcode errand_get_long(errand_variadic get, CURL *handle, CURLINFO info, long *value) {
    return ERRAND_EASY_GETINFO(get)(handle, info, value);
}
static inline CURLcode errand_get_offset(errand_variadic get, CURL *handle, CURLINFO info, curl_off_t *value) {
    return ERRAND_EASY_GETINFO(get)(handle, info, value);
}
static inline CURLcode errand_get_socket(errand_variadic get, CURL *handle, curl_socket_t *value) {
    return ERRAND_EASY_GETINFO(get)(handle, CURLINFO_ACTIVESOCKET, value);
}
static inline CURLcode errand_get_string(errand_variadic get, CURL *handle, CURLINFO info, char **value) {
    return ERRAND_EASY_GETINFO(get)(handle, info, value);
}

/* OpenSSL's object of the handle's connection; NULL without one, and with another TLS library. */
static inline void *errand_get_tls(errand_variadic get, CURL *handle) {
    struct curl_tlssessioninfo *session = NULL;
    CURLcode code = ERRAND_EASY_GETINFO(get)(handle, CURLINFO_TLS_SSL_PTR, &session);
    if (code != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

/* Lets a share object share TLS sessions; false if it does not. */
static inline bool errand_share_sessions(errand_variadic set, CURLSH *share) {
    return ERRAND_SHARE_SETOPT(set)(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK;
}

/* The version of these headers, whose name is a macro. */
static inline CURLversion errand_version_of_headers(void) { return CURLVERSION_NOW; }

/* The multi handle. */
typedef int (*errand_socket_callback)(
    CURL *handle, curl_socket_t socket, int interest, void *context, void *socket_context);
typedef int (*errand_timer_callback)(CURLM *multi, long milliseconds, void *context);
static inline CURLMcode errand_multi_set_long(
    errand_variadic set, CURLM *multi, CURLMoption option, long value) {
    return ERRAND_MULTI_SETOPT(set)(multi, option, value);
}
static inline CURLMcode errand_multi_set_callbacks(
    errand_variadic set, CURLM *multi, errand_socket_callback socket, errand_timer_callback timer,
    void *context) {
    CURLMcode code = ERRAND_MULTI_SETOPT(set)(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = ERRAND_MULTI_SETOPT(set)(multi, CURLMOPT_TIMERDATA, context);
    if (code == CURLM_OK) code = ERRAND_MULTI_SETOPT(set)(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (code == CURLM_OK) code = ERRAND_MULTI_SETOPT(set)(multi, CURLMOPT_TIMERFUNCTION, timer);
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
