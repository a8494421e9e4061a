/* The same GET with libcurl alone. Without an argument, the program ends at once. */
#include <curl/curl.h>
#include <stdio.h>

static size_t count(char *bytes, size_t size, size_t number, void *total) {
    (void)bytes;
    *(size_t *)total += size * number;
    return size * number;
}

int main(int arguments, char **argument) {
    if (arguments < 2) return 0;
    size_t total = 0;
    long status = 0;
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, argument[1]);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, count);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &total);
    CURLcode code = curl_easy_perform(handle);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    printf("%ld %zu\n", status, total);
    return code != CURLE_OK;
}
