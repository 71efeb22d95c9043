#pragma once
// The messages of Sources/Server/LocalSockets/LoginProtocol.md.

#include <stdbool.h>
#include <stdint.h>

enum {
    request_size = 512,
    response_size = 32,
    /// The maximum lengths of the texts in a request.
    longest_service = 32,
    longest_user = 128,
    longest_host = 128,
    longest_code = 64,
};

enum operation { operation_verify = 1, operation_status = 2 };

/// `host` and `service` are only recorded: bytes that are not allowed are replaced, and longer texts are truncated.
struct request {
    enum operation operation;
    bool wants_reasons;
    const char *service, *user, *host;
    /// Empty with `operation_status`.
    const char *code;
};

enum verdict {
    verdict_accepted = 1,
    verdict_denied = 2,
    verdict_unavailable = 3,
    verdict_never_enrolled = 4,
    verdict_enrolled = 5,
};

enum reason {
    reason_none = 0,
    reason_replayed = 1,
    reason_must_wait = 2,
    reason_locked = 3,
    reason_malformed = 4,
};

struct response {
    enum verdict verdict;
    enum reason reason;
    uint32_t seconds;
};

/// Writes the request's message, which contains the code; false if the user or the code does not fit.
bool write_request(const struct request *request, unsigned char message[request_size]);

/// Reads the response to an operation; false if it breaks the protocol in any way.
bool read_response(const unsigned char message[response_size], enum operation operation, struct response *response);
