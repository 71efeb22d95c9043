#include "CLinux.h"

#include <linux/landlock.h>
#include <stdint.h>
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

enum { all_network = 3, all_scopes = 3 };

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

int linux_landlock_make(int version) {
    rule_set rules = {all_files(version), all_network, all_scopes};
    // An older kernel knows only the first fields.
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
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

int linux_landlock_enter(int rules) { return (int)syscall(SYS_landlock_restrict_self, rules, 0); }
