#pragma once
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>

/// The functions of sd-bus and sd-login that are used here; see sd-bus(3) and sd-login(3).
#define BUS_FUNCTIONS(X) \
    X(sd_bus_add_match_async) \
    X(sd_bus_call_method) \
    X(sd_bus_call_method_async) \
    X(sd_bus_error_free) \
    X(sd_bus_flush_close_unref) \
    X(sd_bus_get_events) \
    X(sd_bus_get_fd) \
    X(sd_bus_get_unique_name) \
    X(sd_bus_close_unref) \
    X(sd_bus_match_signal) \
    X(sd_bus_message_enter_container) \
    X(sd_bus_message_exit_container) \
    X(sd_bus_message_get_path) \
    X(sd_bus_message_get_sender) \
    X(sd_bus_message_is_method_error) \
    X(sd_bus_message_read) \
    X(sd_bus_message_skip) \
    X(sd_bus_message_unref) \
    X(sd_bus_open_system) \
    X(sd_bus_open_user) \
    X(sd_bus_process) \
    X(sd_bus_set_method_call_timeout) \
    X(sd_bus_wait) \
    X(sd_uid_get_seats)

#define BUS_FUNCTION(name) __typeof__(name) *name;
typedef struct { BUS_FUNCTIONS(BUS_FUNCTION) } bus_functions;
#undef BUS_FUNCTION

/// The library, which is loaded when it is first needed; NULL if it is not installed. Call it from one
/// thread.
const bus_functions *bus_library(void);
