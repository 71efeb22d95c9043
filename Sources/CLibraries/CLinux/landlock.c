#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Debian 12's header describes version 2. The kernel's own definitions of what came later:
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

typedef struct {
    uint64_t files, network, scopes;
} rule_set;

enum { connecting = 2, all_network = 3, all_scopes = 3, port_rule = 2 };

static uint64_t all_files(int version) {
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    if (version >= 2) all |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) all |= LANDLOCK_ACCESS_FS_TRUNCATE;
    if (version >= 5) all |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
    return all;
}

int linux_landlock_version(void) {
    return (int)syscall(
        SYS_landlock_create_ruleset, (void *)0, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
}

static int make(int version, rule_set rules) {
    // An older kernel accepts only the first fields.
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

int linux_landlock_make(int version) {
    return make(version, (rule_set){all_files(version), all_network, all_scopes});
}

int linux_landlock_make_for_files(int version) {
    return make(version, (rule_set){all_files(version), 0, 0});
}

int linux_landlock_make_for_connecting(int version) {
    return make(version, (rule_set){0, connecting, 0});
}

int linux_landlock_allow(int rules, int version, int file, int writes) {
    uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE;
    uint64_t changing = LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE
        | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE
        | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REFER
        | LANDLOCK_ACCESS_FS_TRUNCATE;
    struct landlock_path_beneath_attr rule = {
        .allowed_access = (writes ? reading | changing : reading) & all_files(version),
        .parent_fd = file};
    return (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

int linux_landlock_allow_all(int rules, int version, const char *path) {
    int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return -1;
    struct stat facts;
    int result = fstat(file, &facts);
    // A symbolic link gives access to nothing; its target has its own rule, or none.
    if (result == 0 && !S_ISLNK(facts.st_mode)) {
        uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE
            | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE
            | LANDLOCK_ACCESS_FS_IOCTL_DEV;
        struct landlock_path_beneath_attr rule = {
            .allowed_access = all_files(version) & (S_ISDIR(facts.st_mode) ? UINT64_MAX : of_files),
            .parent_fd = file};
        result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    int number = errno;
    close(file);
    errno = number;
    return result;
}

int linux_landlock_allow_port(int rules, uint16_t port) {
    struct {
        uint64_t allowed_access, port;
    } rule = {connecting, port};
    return (int)syscall(SYS_landlock_add_rule, rules, port_rule, &rule, 0);
}

int linux_landlock_enter(int rules) { return (int)syscall(SYS_landlock_restrict_self, rules, 0); }
