#include "options.h"

#include <stddef.h>
#include <string.h>

/// Whether the option needs a value, and of which kind.
enum kind { kind_flag, kind_digits, kind_seconds, kind_text, kind_path };

static const struct option {
    const char *name;
    enum kind kind;
    size_t place;
} table[] = {
    {"nullok", kind_flag, offsetof(struct options, nullok)},
    {"try_first_pass", kind_flag, offsetof(struct options, try_first_pass)},
    {"reasons", kind_flag, offsetof(struct options, reasons)},
    {"forward_pass", kind_digits, offsetof(struct options, digits)},
    {"timeout", kind_seconds, offsetof(struct options, timeout)},
    {"prompt", kind_text, offsetof(struct options, prompt)},
    {"service", kind_text, offsetof(struct options, service)},
    {"socket", kind_path, offsetof(struct options, socket)},
    {"server", kind_text, offsetof(struct options, server)},
    {"key", kind_path, offsetof(struct options, key)},
    {"ca", kind_path, offsetof(struct options, ca)},
    {"realm", kind_text, offsetof(struct options, realm)},
};
enum { option_count = sizeof table / sizeof table[0] };

/// The number, without sign or leading zero; 0 if it is not one, or has more than three digits.
static unsigned number(const char *text) {
    unsigned value = 0;
    if (*text == '0' || strlen(text) > 3) return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return 0;
        value = 10 * value + (unsigned)(*text - '0');
    }
    return value;
}

/// Stores an option's value, which is NULL without an equals sign; false if it is wrong.
static bool store(const struct option *option, const char *value, struct options *options) {
    void *place = (char *)options + option->place;
    switch (option->kind) {
    case kind_flag:
        *(bool *)place = true;
        return value == NULL;
    case kind_digits:
        *(unsigned *)place = value ? number(value) : 6;
        return *(unsigned *)place >= 6 && *(unsigned *)place <= 8;
    case kind_seconds:
        *(unsigned *)place = value ? number(value) : 0;
        return *(unsigned *)place >= 1 && *(unsigned *)place <= 60;
    case kind_path:
    case kind_text:
        *(const char **)place = value;
        return value && *value && (option->kind == kind_text || *value == '/');
    }
    return false;
}

const char *read_options(int count, const char *const *arguments, struct options *options) {
    bool given[option_count] = {false};
    *options = (struct options){.timeout = 10};
    for (int index = 0; index < count; index++) {
        const char *argument = arguments[index], *equals = strchr(argument, '=');
        size_t length = equals ? (size_t)(equals - argument) : strlen(argument), row = 0;
        while (row < option_count &&
               (strlen(table[row].name) != length || memcmp(table[row].name, argument, length) != 0))
            row++;
        if (row == option_count || given[row]) return argument;
        given[row] = true;
        if (!store(&table[row], equals ? equals + 1 : NULL, options)) return argument;
    }
    if (options->server) return options->socket ? "socket" : options->key ? NULL : "key";
    return options->key ? "key" : options->ca ? "ca" : options->realm ? "realm" : NULL;
}
