#include "exchange.h"

#include "helper.h"
#include "place.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// The sockets, each made by a systemd unit: one for root's programs, and one for all others.
static const char roots_socket[] = "/run/watchword/pam";
static const char own_socket[] = "/run/watchword/self";

/// The time in milliseconds, from a clock that cannot be set.
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/// Sets `errno`, and returns false, if the time is up.
static bool time_left(long long deadline, long long *left) {
    *left = deadline - now();
    if (*left > 0) return true;
    errno = ETIMEDOUT;
    return false;
}

/// Waits until the socket is ready for one of the events, or the other side has closed it.
static bool wait_for(int socket, short events, long long deadline) {
    long long left;
    while (time_left(deadline, &left)) {
        struct pollfd ready = {.fd = socket, .events = events};
        int count = poll(&ready, 1, (int)left);
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return false;
    }
    return false;
}

static bool send_message(int socket, const unsigned char *bytes, size_t size, long long deadline) {
    while (size > 0) {
        // Avoid SIGPIPE if the other side has closed the connection, because the host may not expect this signal.
        ssize_t count = send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            bytes += count;
            size -= (size_t)count;
        } else if (errno == EAGAIN) {
            if (!wait_for(socket, POLLOUT, deadline)) return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool receive_message(int socket, unsigned char *bytes, size_t size, long long deadline) {
    while (size > 0) {
        if (!wait_for(socket, POLLIN, deadline)) return false;
        ssize_t count = recv(socket, bytes, size, MSG_DONTWAIT);
        if (count > 0) {
            bytes += count;
            size -= (size_t)count;
        } else if (count == 0) {
            errno = ECONNRESET;
            return false;
        } else if (errno != EINTR && errno != EAGAIN) {
            return false;
        }
    }
    return true;
}

/// Connects to the server's socket; -1 and a complaint on failure.
static int connect_to(const char *path, long long deadline, struct complaint *complaint) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *fault = strlen(path) < sizeof address.sun_path ? fault_of_socket(path) : "the path is too long";
    if (fault) {
        snprintf(complaint->text, sizeof complaint->text, "%.100s: %s", path, fault);
        return -1;
    }
    strcpy(address.sun_path, path);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long long left;
    while (file >= 0 && time_left(deadline, &left)) {
        // A non-blocking call would fail while the server's queue is full, and could not wait for room. A
        // blocking call waits for room, but not longer than this limit.
        struct timeval most = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
        if (setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) != 0) break;
        if (connect(file, (struct sockaddr *)&address, sizeof address) == 0) return file;
        if (errno != EINTR && errno != EAGAIN) break;
    }
    snprintf(complaint->text, sizeof complaint->text, "%.100s: %m", path);
    if (file >= 0) close(file);
    return -1;
}

/// Sends the message, and reads the response to it; false on failure. Without a decision, the complaint names the
/// server: its address or the path of its socket.
static bool converse(
    int socket, const char *server, const unsigned char message[request_size], enum operation operation,
    long long deadline, struct response *response, struct complaint *complaint) {
    unsigned char received[response_size];
    if (!send_message(socket, message, request_size, deadline) ||
        !receive_message(socket, received, response_size, deadline)) {
        snprintf(complaint->text, sizeof complaint->text, "%.100s: no response: %m", server);
        return false;
    }
    bool is_valid = read_response(received, operation, response);
    const char *fault = is_valid ? "the server cannot decide now; see its log" : "the response breaks the protocol";
    snprintf(complaint->text, sizeof complaint->text, "%.100s: %s", server, fault);
    return is_valid;
}

bool exchange(
    const struct options *options, const struct request *request, struct response *response,
    struct complaint *complaint) {
    long long deadline = now() + options->timeout * 1000LL;
    unsigned char message[request_size];
    bool is_answered = false;
    if (!write_request(request, message)) {
        snprintf(complaint->text, sizeof complaint->text, "the user name or the code is too long");
    } else if (options->server) {
        struct helper helper;
        if (start_helper(options, &helper, complaint)) {
            is_answered = converse(
                helper.messages, options->server, message, request->operation, deadline, response, complaint);
            if (!is_answered || response->verdict == verdict_unavailable) read_complaint(&helper, complaint);
            end_helper(&helper);
        }
    } else {
        const char *path = options->socket ? options->socket : geteuid() == 0 ? roots_socket : own_socket;
        int socket = connect_to(path, deadline, complaint);
        if (socket >= 0) {
            is_answered = converse(socket, path, message, request->operation, deadline, response, complaint);
            close(socket);
        }
    }
    explicit_bzero(message, sizeof message);
    return is_answered;
}
