// libmicrohttpd alone: answers each POST with the same few bytes after its body has arrived. Prints its port,
// and exits at the end of standard input.
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "{\"verification\":\"vf_AAAAAAAAAAAAAAAAAAAAAA\",\"result\":\"accepted\","
    "\"credential\":\"cr_AAAAAAAAAAAAAAAAAAAAAA\",\"type\":\"totp\",\"offset\":0}";

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **state) {
    (void)context, (void)url, (void)method, (void)version, (void)data;
    if (*state == NULL) {
        *state = connection;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof text - 1, (void *)text, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Content-Type", "application/json");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

int main(void) {
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_THREAD_POOL_SIZE, 2u,
        MHD_OPTION_END);
    if (daemon == NULL) return 1;
    printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    MHD_stop_daemon(daemon);
    return 0;
}
