// The fingers that fprintd has enrolled: https://fprint.freedesktop.org/fprintd-dev/
// This is C because most functions of sd-bus are variadic.
#include "CSystemd.h"

#include "bus.h"

#include <errno.h>
#include <string.h>

static const char service[] = "net.reactivated.Fprint";

enum {
    /// The maximum number of readers; few machines have two.
    most_readers = 16,
};

/// The names, each with a line feed.
typedef struct {
    char *text;
    size_t length, capacity;
} name_list;

/// Adds the names in an answer of a reader.
static int take_names(sd_bus_message *answer, name_list *names) {
    const bus_functions *bus = bus_library();
    const char *name = NULL;
    int code = bus->sd_bus_message_enter_container(answer, 'a', "s");
    while (code >= 0 && (code = bus->sd_bus_message_read(answer, "s", &name)) > 0) {
        size_t length = strlen(name);
        // The line feed and the null byte.
        if (length + 2 > names->capacity - names->length) return -E2BIG;
        memcpy(names->text + names->length, name, length);
        names->length += length;
        names->text[names->length++] = '\n';
    }
    return code;
}

/// Adds the names of the fingers of `user` with one reader.
static int ask_reader(sd_bus *connection, const char *reader, const char *user, name_list *names) {
    const bus_functions *bus = bus_library();
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *answer = NULL;
    int code = bus->sd_bus_call_method(
        connection, service, reader, "net.reactivated.Fprint.Device", "ListEnrolledFingers", &error,
        &answer, "s", user);
    if (code >= 0)
        code = take_names(answer, names);
    else if (error.name != NULL
             && strcmp(error.name, "net.reactivated.Fprint.Error.NoEnrolledPrints") == 0)
        code = 0;
    bus->sd_bus_error_free(&error);
    bus->sd_bus_message_unref(answer);
    return code;
}

static int ask_readers(sd_bus *connection, const char *user, name_list *names) {
    const bus_functions *bus = bus_library();
    sd_bus_message *answer = NULL;
    const char *reader = NULL;
    int code = bus->sd_bus_call_method(
        connection, service, "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager",
        "GetDevices", NULL, &answer, NULL);
    if (code >= 0) code = bus->sd_bus_message_enter_container(answer, 'a', "o");
    for (int count = 0; code >= 0; count++) {
        code = bus->sd_bus_message_read(answer, "o", &reader);
        if (code <= 0) break;
        code = count < most_readers ? ask_reader(connection, reader, user, names) : -E2BIG;
    }
    bus->sd_bus_message_unref(answer);
    return code;
}

int enrolled_fingers(const char *user, char *text, size_t capacity, unsigned milliseconds) {
    const bus_functions *bus = bus_library();
    name_list names = {.text = text, .length = 0, .capacity = capacity};
    sd_bus *connection = NULL;
    if (capacity == 0) return -EINVAL;
    if (bus == NULL) return -ELIBACC;
    int code = bus->sd_bus_open_system(&connection);
    if (code >= 0)
        code = bus->sd_bus_set_method_call_timeout(connection, (uint64_t)milliseconds * 1000);
    if (code >= 0) code = ask_readers(connection, user, &names);
    bus->sd_bus_flush_close_unref(connection);
    text[names.length] = 0;
    return code < 0 ? code : 0;
}
