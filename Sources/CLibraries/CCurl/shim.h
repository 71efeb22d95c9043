#pragma once
#include <sys/types.h>
#include <sys/socket.h>
#include <curl/curl.h>
/* Swift does not import variadic functions such as curl_easy_setopt and curl_easy_getinfo: one wrapper for each type. */
static inline CURLcode curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_blob(CURL *handle, CURLoption option, struct curl_blob *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_receiver(CURL *handle, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_opener(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
/* The caller owns the connection's descriptor and closes it, so libcurl must not. */
static inline int curl_keep_socket(void *data, curl_socket_t socket) {
    (void)data;
    (void)socket;
    return 0;
}
static inline CURLcode curl_set_no_closer(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, curl_keep_socket);
}
static inline CURLcode curl_set_preparer(CURL *handle, curl_sockopt_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, value);
}
static inline CURLcode curl_get_number(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_get_size(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_get_text(CURL *handle, CURLINFO info, const char **value) {
    return curl_easy_getinfo(handle, info, value);
}
/* The result of a finished transfer is in a union, which Swift can read only as unsafe memory. */
static inline CURLcode curl_message_result(const CURLMsg *message) { return message->data.result; }
/* Swift does not import a macro that combines other macros. */
static const long curl_global_everything = CURL_GLOBAL_DEFAULT;
