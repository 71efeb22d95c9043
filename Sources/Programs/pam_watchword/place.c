#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The text for `errno`; never NULL, because NULL would mean that there is no fault.
static const char *system_fault(void) {
    const char *text = strerrordesc_np(errno);
    return text ? text : "an unknown error";
}

/// Opens the next part of the path without following links, and closes the folder; -1 on failure.
static int step(int folder, const char *name) {
    int next = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int failure = errno;
    close(folder);
    errno = failure;
    return next;
}

const char *fault_of_socket(const char *path) {
    char parts[108];  // the size of a socket's path
    if (*path != '/' || strlen(path) >= sizeof parts) return "not the path of a socket";
    strcpy(parts, path);
    char *rest = NULL;
    const char *name = strtok_r(parts, "/", &rest), *fault = NULL;
    int place = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (; place >= 0 && name && !fault; name = strtok_r(NULL, "/", &rest)) {
        struct stat folder;
        if (fstat(place, &folder) != 0) fault = system_fault();
        else if (!S_ISDIR(folder.st_mode)) fault = "a folder in the path is a link or a file";
        else if (folder.st_uid != 0) fault = "a folder in the path does not belong to root";
        else if (folder.st_mode & (S_IWGRP | S_IWOTH)) fault = "non-root users can write to a folder in the path";
        if (!fault) place = step(place, name);
    }
    if (place < 0) return system_fault();
    struct stat socket;
    if (fault) /* reported below */;
    else if (fstat(place, &socket) != 0) fault = system_fault();
    else if (!S_ISSOCK(socket.st_mode)) fault = "not a socket";
    else if (socket.st_uid != 0) fault = "the socket does not belong to root";
    close(place);
    return fault;
}
