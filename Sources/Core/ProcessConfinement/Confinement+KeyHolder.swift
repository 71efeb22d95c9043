internal import CLinux
internal import Glibc
public import WatchwordSystem

// Confinement of a process that keeps keys for a long time, and reads and replaces a few files.
extension Confinement {
    /// Confines this process, which holds keys.
    ///
    /// It dies with its parent, cannot be dumped or traced, reaches only the files below `folders`
    /// (where the kernel has Landlock), and can neither start a program nor open a connection. It
    /// can accept connections on a socket that it has, and start threads.
    ///
    /// Everything else that it needs from the file system must already be loaded. The process must
    /// have one thread. A system call that is not allowed fails with `EPERM`: a library may try a
    /// call that it can do without, and the keys must not be lost because of this.
    ///
    /// - Returns: whether the kernel limits the files.
    /// - Throws: the failed step, as ``enter(_:runsLibraries:)`` does.
    public static func enterAsKeyHolder(folders: [String]) throws(SystemCallFailure) -> Bool {
        try ProcessHardening.dieWithParent()
        try call("prctl") { linux_prctl(Int32(LINUX_PR_SET_NO_NEW_PRIVS), 1) }
        // Load the time zone now, because it cannot be read later.
        tzset()
        linux_use_one_arena()
        let limitsFiles = try FileAccessLimit.enter(
            folders: folders, files: ["/proc/sys/kernel/random/boot_id"])
        let filter = try SystemCallFilter(failingWith: EPERM)
        for call in keyHolderCalls { try filter.allow(call) }
        for call: StaticString in ["mmap", "mprotect"] {
            try filter.allow(call, when: .argument(2, isWithout: PROT_EXEC))
        }
        try filter.allow("clone", when: .argument(0, has: Int32(LINUX_CLONE_THREAD)))
        try filter.answer("clone3", with: ENOSYS)
        try filter.allow("tgkill", when: .argument(0, is: getpid()))
        // Reading this process's own limits.
        try filter.allow("prlimit64", when: .argument(0, is: 0))
        try filter.load()
        return limitsFiles
    }

    private static let keyHolderCalls: [StaticString] =
        [
            // Access to the files below the folders.
            "openat", "open", "close", "read", "pread64", "readv", "write", "pwrite64", "writev",
            "lseek", "fstat", "newfstatat", "stat", "lstat", "statx", "access", "faccessat",
            "faccessat2", "readlink", "readlinkat", "getdents64", "fcntl", "flock", "fsync",
            "fdatasync", "ftruncate", "fchmod", "fchmodat", "linkat", "renameat", "renameat2",
            "unlinkat", "unlink", "mkdirat", "mkdir", "rmdir", "umask", "getcwd",
        ]
        + [
            // The socket that it has, and open files that it is sent.
            "accept4", "accept", "getsockopt", "recvmsg", "sendmsg", "shutdown", "poll", "ppoll",
            "signalfd4",
        ]
        + [
            // Memory, clocks, randomness, threads, signals to itself.
            "brk", "mremap", "munmap", "madvise", "mlock", "munlock", "clock_gettime",
            "clock_nanosleep", "nanosleep", "gettimeofday", "time", "getrandom", "futex",
            "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "sysinfo", "exit",
            "exit_group", "getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid",
            "rt_sigprocmask", "rt_sigaction", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait",
            "restart_syscall",
        ]
}
