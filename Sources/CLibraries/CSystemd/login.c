// The signals and the inhibitor locks of logind:
// https://www.freedesktop.org/software/systemd/man/org.freedesktop.login1.html
// This is C because most functions of sd-bus are variadic.
#include "CSystemd.h"

#include "bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char bus_driver[] = "org.freedesktop.DBus";
static const char service[] = "org.freedesktop.login1";
static const char manager_path[] = "/org/freedesktop/login1";
static const char manager[] = "org.freedesktop.login1.Manager";
static const char session[] = "org.freedesktop.login1.Session";

enum {
    /// The maximum number of messages handled in one call, so that a busy bus delays nothing else.
    most_messages = 32,
    /// The maximum number of requests for the user of a session that are sent at once: the bus allows
    /// few that have no answer yet.
    most_queries = 8,
    /// The maximum number of sessions whose user is asked for; the login manager's own limit is 8192.
    most_sessions = 16384,
    /// The maximum number of users whose sessions are locked at once; one for each message.
    most_users = most_messages,
    /// The size of a unique name with its null byte (D-Bus Specification, "Valid Names").
    name_size = 256,
    /// How long the login manager may take to answer, in microseconds.
    answer_timeout = 5 * 1000 * 1000,
};

/// A session that was locked, and whose user is not known yet.
typedef struct locked_session {
    struct locked_session *next;
    login_watch *watch;
    int is_asked;
    char path[];
} locked_session;

struct login_watch {
    sd_bus *bus;
    /// The unique name of the login manager's connection; empty while it does not run.
    char owner[name_size];
    /// What has been announced since the last call.
    int notices;
    /// The users whose session was locked.
    uint32_t users[most_users];
    int user_count;
    /// The locked sessions whose user is not known yet, the first one first; those that were asked for
    /// come before the others.
    locked_session *sessions;
    int queries;
    /// The lock that delays sleep; -1 without one.
    int inhibitor;
};

static void note_user(login_watch *watch, uint32_t user) {
    for (int number = 0; number < watch->user_count; number++)
        if (watch->users[number] == user) return;
    if (watch->user_count == most_users) {
        watch->notices |= LOGIN_LOCK_UNKNOWN;
        return;
    }
    watch->users[watch->user_count++] = user;
    watch->notices |= LOGIN_LOCK;
}

/// Whether the sender of a message is the connection with this name.
///
/// A match rule does not decide this: the bus delivers a signal that names its destination, whatever the
/// rules are (as in CVE-2024-34397). The bus itself writes the sender's name into each message.
static int is_from(sd_bus_message *message, const char *name) {
    const char *sender = bus_library()->sd_bus_message_get_sender(message);
    return sender != NULL && name[0] != 0 && strcmp(sender, name) == 0;
}

static void set_owner(login_watch *watch, const char *name) {
    size_t length = strlen(name);
    if (length >= name_size) length = 0;
    memcpy(watch->owner, name, length);
    watch->owner[length] = 0;
}

/// The response with the login manager's unique name; an error if it does not run.
static int take_known_owner(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    const bus_functions *bus = bus_library();
    const char *name = NULL;
    if (!bus->sd_bus_message_is_method_error(message, NULL)
        && bus->sd_bus_message_read(message, "s", &name) > 0)
        set_owner(data, name);
    return 0;
}

static int take_user(sd_bus_message *message, void *data, sd_bus_error *error);

/// Asks for the users of the next locked sessions.
static void ask_for_users(login_watch *watch) {
    for (locked_session *next = watch->sessions; next != NULL; next = next->next) {
        if (watch->queries == most_queries) return;
        if (next->is_asked) continue;
        int code = bus_library()->sd_bus_call_method_async(
            watch->bus, NULL, service, next->path, "org.freedesktop.DBus.Properties", "Get",
            take_user, next, "ss", session, "User");
        if (code < 0) {
            // The connection is lost, or there is no memory.
            watch->notices |= LOGIN_LOCK_UNKNOWN;
            return;
        }
        next->is_asked = 1;
        watch->queries++;
    }
}

static void forget_session(locked_session *gone) {
    locked_session **place = &gone->watch->sessions;
    while (*place != gone) place = &(*place)->next;
    *place = gone->next;
    free(gone);
}

/// The response with the user of a locked session.
///
/// A session that has ended meanwhile locks nothing: it was the user's own, and any user could
/// otherwise lock the vaults of all.
static int take_user(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    const bus_functions *bus = bus_library();
    locked_session *locked = data;
    login_watch *watch = locked->watch;
    uint32_t user;
    watch->queries--;
    forget_session(locked);
    if (!bus->sd_bus_message_is_method_error(message, NULL)
        && bus->sd_bus_message_enter_container(message, 'v', "(uo)") > 0
        && bus->sd_bus_message_enter_container(message, 'r', "uo") > 0
        && bus->sd_bus_message_read(message, "u", &user) > 0)
        note_user(watch, user);
    else if (!bus->sd_bus_message_is_method_error(
                 message, "org.freedesktop.DBus.Error.UnknownObject"))
        watch->notices |= LOGIN_LOCK_UNKNOWN;
    ask_for_users(watch);
    return 0;
}

/// Each session is asked for once at a time, however often it is locked.
static int take_lock(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    login_watch *watch = data;
    if (!is_from(message, watch->owner)) return 0;
    const char *path = bus_library()->sd_bus_message_get_path(message);
    locked_session **end = &watch->sessions;
    int count = 0;
    for (; *end != NULL; end = &(*end)->next, count++)
        if (strcmp((*end)->path, path) == 0) return 0;
    size_t size = strlen(path) + 1;
    locked_session *locked =
        count < most_sessions ? calloc(1, sizeof *locked + size) : NULL;
    if (locked == NULL) {
        watch->notices |= LOGIN_LOCK_UNKNOWN;
        return 0;
    }
    locked->watch = watch;
    memcpy(locked->path, path, size);
    *end = locked;
    ask_for_users(watch);
    return 0;
}

static int take_inhibitor(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    const bus_functions *bus = bus_library();
    login_watch *watch = data;
    int file = -1;
    if (bus->sd_bus_message_is_method_error(message, NULL)
        || bus->sd_bus_message_read(message, "h", &file) < 0)
        return 0;
    login_watch_allow_sleep(watch);
    // The message owns its descriptor.
    watch->inhibitor = fcntl(file, F_DUPFD_CLOEXEC, 3);
    return 0;
}

static void inhibit_sleep(login_watch *watch) {
    // Without the lock, the machine may sleep before the keys are wiped; they are wiped afterwards.
    bus_library()->sd_bus_call_method_async(
        watch->bus, NULL, service, manager_path, manager, "Inhibit", take_inhibitor, watch, "ssss",
        "sleep", "Watchword", "The agent locks the vaults first", "delay");
}

static int take_sleep(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    login_watch *watch = data;
    int starts = 0;
    if (!is_from(message, watch->owner)) return 0;
    if (bus_library()->sd_bus_message_read(message, "b", &starts) < 0) return 0;
    if (starts) watch->notices |= LOGIN_SLEEP;
    else inhibit_sleep(watch);
    return 0;
}

/// The login manager has started or ended. An earlier lock has no effect on a new login manager.
static int take_owner(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    const char *name = NULL, *before = NULL, *after = NULL;
    if (!is_from(message, bus_driver)
        || bus_library()->sd_bus_message_read(message, "sss", &name, &before, &after) < 0
        || strcmp(name, service) != 0)
        return 0;
    set_owner(data, after);
    if (after[0]) inhibit_sleep(data);
    return 0;
}

static int listen_to(login_watch *watch, const char *rule, sd_bus_message_handler_t take) {
    return bus_library()->sd_bus_add_match_async(watch->bus, NULL, rule, take, NULL, watch);
}

int login_active_seats(uint32_t user) {
    const bus_functions *library = bus_library();
    return library == NULL ? -ELIBACC : library->sd_uid_get_seats(user, 1, NULL);
}

int login_watch_open(login_watch **result) {
    const bus_functions *bus = bus_library();
    if (bus == NULL) return -ELIBACC;
    login_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return -ENOMEM;
    watch->inhibitor = -1;
    int code = bus->sd_bus_open_system(&watch->bus);
    if (code >= 0) code = bus->sd_bus_set_method_call_timeout(watch->bus, answer_timeout);
    // The bus handles these requests in order, so the owner is known before the first signal of logind.
    if (code >= 0)
        code = listen_to(
            watch,
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            "member='NameOwnerChanged',arg0='org.freedesktop.login1'",
            take_owner);
    if (code >= 0)
        code = bus->sd_bus_call_method_async(
            watch->bus, NULL, bus_driver, "/org/freedesktop/DBus", bus_driver, "GetNameOwner",
            take_known_owner, watch, "s", service);
    if (code >= 0)
        code = listen_to(
            watch,
            "type='signal',sender='org.freedesktop.login1',"
            "interface='org.freedesktop.login1.Session',member='Lock'",
            take_lock);
    if (code >= 0)
        code = listen_to(
            watch,
            "type='signal',sender='org.freedesktop.login1',path='/org/freedesktop/login1',"
            "interface='org.freedesktop.login1.Manager',member='PrepareForSleep'",
            take_sleep);
    if (code < 0) {
        login_watch_close(watch);
        return code;
    }
    inhibit_sleep(watch);
    *result = watch;
    return 0;
}

int login_watch_file(login_watch *watch) { return bus_library()->sd_bus_get_fd(watch->bus); }

int login_watch_events(login_watch *watch) { return bus_library()->sd_bus_get_events(watch->bus); }

int login_watch_process(login_watch *watch) {
    for (int count = 0; count < most_messages; count++) {
        int code = bus_library()->sd_bus_process(watch->bus, NULL);
        if (code < 0) return code;
        if (code == 0) break;
    }
    int notices = watch->notices;
    watch->notices = 0;
    return notices;
}

int login_watch_locked_user(login_watch *watch, uint32_t *user) {
    if (watch->user_count == 0) return 0;
    *user = watch->users[--watch->user_count];
    return 1;
}

void login_watch_allow_sleep(login_watch *watch) {
    if (watch->inhibitor >= 0) close(watch->inhibitor);
    watch->inhibitor = -1;
}

void login_watch_close(login_watch *watch) {
    // Not flushed: that would wait for the bus.
    bus_library()->sd_bus_close_unref(watch->bus);
    while (watch->sessions != NULL) forget_session(watch->sessions);
    login_watch_allow_sleep(watch);
    free(watch);
}
