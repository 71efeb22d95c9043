#include "protocol.h"

#include <string.h>

enum {
    place_of_operation = 4,
    place_of_flags = 5,
    place_of_service = 6,
    place_of_user = 39,
    place_of_host = 168,
    place_of_code = 297,
    flag_reasons = 1,

    place_of_verdict = 4,
    place_of_reason = 5,
    place_of_seconds = 6,
    place_of_zeros = 10,
};

/// Writes the length of a text, and then the text.
static void write_text(unsigned char *place, const char *text, size_t length) {
    place[0] = (unsigned char)length;
    memcpy(place + 1, text, length);
}

/// Writes a text that may come from a stranger's name server, reduced to printable ASCII.
static void write_claim(unsigned char *place, const char *text, size_t most) {
    size_t length = strnlen(text, most);
    write_text(place, text, length);
    for (size_t index = 1; index <= length; index++)
        if (place[index] <= ' ' || place[index] > '~') place[index] = '?';
}

bool write_request(const struct request *request, unsigned char message[request_size]) {
    size_t user = strlen(request->user), code = strlen(request->code);
    bool is_check = request->operation == operation_verify;
    if (user < 1 || user > longest_user || code > longest_code || (code > 0) != is_check) return false;
    memset(message, 0, request_size);
    memcpy(message, "WWP1", 4);
    message[place_of_operation] = (unsigned char)request->operation;
    message[place_of_flags] = request->wants_reasons ? flag_reasons : 0;
    write_claim(message + place_of_service, request->service, longest_service);
    write_text(message + place_of_user, request->user, user);
    write_claim(message + place_of_host, request->host, longest_host);
    write_text(message + place_of_code, request->code, code);
    return true;
}

static bool answers(enum verdict verdict, enum operation operation) {
    switch (verdict) {
    case verdict_accepted:
    case verdict_denied: return operation == operation_verify;
    case verdict_unavailable: return true;
    case verdict_never_enrolled:
    case verdict_enrolled: return operation == operation_status;
    }
    return false;
}

bool read_response(const unsigned char message[response_size], enum operation operation, struct response *response) {
    if (memcmp(message, "WWR1", 4) != 0) return false;
    for (int index = place_of_zeros; index < response_size; index++)
        if (message[index] != 0) return false;
    response->verdict = message[place_of_verdict];
    response->reason = message[place_of_reason];
    response->seconds = 0;
    for (int index = 0; index < 4; index++)
        response->seconds = response->seconds << 8 | message[place_of_seconds + index];
    if (response->reason > reason_malformed) return false;
    if (response->reason != reason_none && response->verdict != verdict_denied) return false;
    if ((response->seconds > 0) != (response->reason == reason_must_wait)) return false;
    return answers(response->verdict, operation);
}
