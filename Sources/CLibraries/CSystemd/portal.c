// The Screenshot interface of the desktop portal:
// https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Screenshot.html
// This is C because most functions of sd-bus are variadic.
#include "CSystemd.h"

#include "bus.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char service[] = "org.freedesktop.portal.Desktop";

struct request {
    char *uri;
    size_t capacity;
    /// 1 until the response arrives; then 0 or a negative error number.
    int state;
};

/// Reads the entries of the response's dictionary; only the URI is used.
static int read_results(sd_bus_message *message, struct request *request) {
    int code = bus_library()->sd_bus_message_enter_container(message, 'a', "{sv}");
    while (code >= 0
           && (code = bus_library()->sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        const char *name = NULL;
        if ((code = bus_library()->sd_bus_message_read(message, "s", &name)) < 0) return code;
        if (strcmp(name, "uri") == 0) {
            const char *uri = NULL;
            code = bus_library()->sd_bus_message_read(message, "v", "s", &uri);
            if (code < 0) return code;
            if (strlen(uri) >= request->capacity) return -ENAMETOOLONG;
            strcpy(request->uri, uri);
        } else if ((code = bus_library()->sd_bus_message_skip(message, "v")) < 0) {
            return code;
        }
        code = bus_library()->sd_bus_message_exit_container(message);
    }
    if (code < 0) return code;
    return request->uri[0] ? 0 : -ENOENT;
}

static int take_response(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    struct request *request = data;
    uint32_t response = 0;
    int code = bus_library()->sd_bus_message_read(message, "u", &response);
    // 1: the user refused; 2: the request ended for a different reason.
    if (code >= 0) code = response == 0 ? read_results(message, request) : -ECANCELED;
    request->state = code < 0 ? code : 0;
    return 0;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static int wait_for_response(sd_bus *bus, struct request *request, uint64_t deadline) {
    while (request->state > 0) {
        int code = bus_library()->sd_bus_process(bus, NULL);
        if (code < 0) return code;
        if (code > 0) continue;
        uint64_t time = now();
        if (time >= deadline) return -ETIMEDOUT;
        code = bus_library()->sd_bus_wait(bus, deadline - time);
        if (code < 0 && code != -EINTR) return code;
    }
    return request->state;
}

/// The path at which the response to a request of this connection will arrive.
static int request_path(sd_bus *bus, char *path, size_t capacity) {
    const char *name = NULL;
    int code = bus_library()->sd_bus_get_unique_name(bus, &name);
    if (code < 0) return code;
    int length = snprintf(
        path, capacity, "/org/freedesktop/portal/desktop/request/%s/watchword", name + 1);
    if (length < 0 || (size_t)length >= capacity) return -ENAMETOOLONG;
    // The connection's name is :1.42; the path contains 1_42.
    for (char *dot = path; (dot = strchr(dot, '.'));) *dot = '_';
    return 0;
}

int portal_screenshot(char *uri, size_t capacity, unsigned milliseconds) {
    struct request request = {.uri = uri, .capacity = capacity, .state = 1};
    uint64_t deadline = now() + (uint64_t)milliseconds * 1000;
    sd_bus *bus = NULL;
    char path[256];
    if (capacity == 0) return -EINVAL;
    if (bus_library() == NULL) return -ELIBACC;
    uri[0] = 0;
    int code = bus_library()->sd_bus_open_user(&bus);
    if (code >= 0) code = request_path(bus, path, sizeof path);
    // Listen before asking, because the response can arrive at once.
    if (code >= 0)
        code = bus_library()->sd_bus_match_signal(
            bus, NULL, service, path, "org.freedesktop.portal.Request", "Response", take_response,
            &request);
    if (code >= 0)
        code = bus_library()->sd_bus_call_method(
            bus, service, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Screenshot",
            "Screenshot", NULL, NULL, "sa{sv}", "", 2, "handle_token", "s", "watchword",
            "interactive", "b", 0);
    if (code >= 0) code = wait_for_response(bus, &request, deadline);
    bus_library()->sd_bus_flush_close_unref(bus);
    return code < 0 ? code : 0;
}
