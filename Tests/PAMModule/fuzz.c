// A libFuzzer target for what the PAM module parses: responses, options, and what people type.
#include "options.h"
#include "protocol.h"
#include "typed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define require(condition) \
    if (!(condition)) abort()

static void parse_response(const uint8_t *data) {
    for (enum operation operation = operation_verify; operation <= operation_status; operation++) {
        struct response response;
        if (!read_response(data, operation, &response)) continue;
        // The message is the only one with this meaning.
        uint8_t again[response_size] = {'W', 'W', 'R', '1', (uint8_t)response.verdict, (uint8_t)response.reason};
        for (int index = 0; index < 4; index++) again[6 + index] = (uint8_t)(response.seconds >> (24 - 8 * index));
        require(memcmp(again, data, response_size) == 0);
        require(response.verdict != verdict_accepted || operation == operation_verify);
    }
}

/// `text` has a NUL behind it; NULs inside separate options.
static void parse_options(const char *text, size_t size) {
    const char *arguments[64];
    int count = 0;
    for (const char *next = text; next <= text + size && count < 64; next += strlen(next) + 1)
        arguments[count++] = next;
    struct options options;
    if (read_options(count, arguments, &options)) return;
    require(options.timeout >= 1 && options.timeout <= 60);
    require(options.digits == 0 || (options.digits >= 6 && options.digits <= 8));
    require(!options.server || (options.key && !options.socket));
    require(!options.key || (options.server && *options.key == '/'));
}

static void parse_typed(const char *text) {
    size_t length = strlen(text);
    is_like_code(text);
    for (unsigned digits = 6; digits <= 8; digits++) {
        ptrdiff_t start = start_of_code(text, digits);
        require(start >= -1 && start <= (ptrdiff_t)length);
        if (start < 0) continue;
        require(length - (size_t)start == digits || length - (size_t)start == 19);
        require(is_like_code(text + start));
    }
    uint8_t message[request_size];
    struct request request = {operation_verify, true, text, text, text, text};
    require(write_request(&request, message) == (length >= 1 && length <= longest_code));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == response_size) parse_response(data);
    // A copy that is exactly as long as it says, so that the address sanitizer notices the first byte behind it.
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    parse_options(text, size);
    parse_typed(text);
    free(text);
    return 0;
}
