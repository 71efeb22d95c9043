internal import CLinux
internal import Glibc
public import WatchwordSystem

/// Restricts a process to computation, memory and three open descriptors for the rest of its life.
///
/// Afterwards the process can read descriptor 0, write descriptors 1 and 2, allocate memory that is
/// not executable, read clocks, get random bytes, and exit. Any other system call kills it at once
/// (`SIGSYS`). This is irreversible and all or nothing: if any restriction fails, the result is an
/// error.
public enum Confinement {
    /// The resource limits of the confined process.
    public struct Limits: Sendable {
        /// The address space in bytes, including libraries.
        public let addressSpace: Int
        /// The CPU time in seconds over the process's whole life.
        public let processorSeconds: Int

        /// Combines a limit in bytes and a limit in seconds.
        public init(addressSpace: Int, processorSeconds: Int) {
            self.addressSpace = addressSpace
            self.processorSeconds = processorSeconds
        }
    }

    /// Confines this process.
    ///
    /// Everything that it needs from the file system must already be loaded.
    ///
    /// The process must have one thread. It is also killed when the *thread* that started it ends,
    /// so that no orphaned child keeps running.
    ///
    /// - Parameter runsLibraries: whether the process calls libraries that start threads, or that
    ///   look for files while they work. If so, threads are allowed (they are confined, too), and
    ///   an attempt to open a file fails instead of killing the process.
    /// - Throws: the failed step, named by its system call, such as `seccomp_load` on a kernel or
    ///   in a container without seccomp. In that case, the process must not read the untrusted
    ///   data.
    public static func enter(
        _ limits: Limits, runsLibraries: Bool = false
    ) throws(SystemCallFailure) {
        try beginLife()
        try tighten(limits)
        try limit(RLIMIT_NOFILE, to: 0)
        let filter = try SystemCallFilter()
        try allowComputation(filter)
        // A `WipedBuffer` is also wiped if it cannot be locked.
        try filter.answer("mlock", with: EPERM)
        if runsLibraries { try allowLibraries(filter) }
        try filter.load()
    }

    /// The first step: resets signal handling, makes the process die with its parent, forbids new
    /// privileges, and closes all descriptors but the standard ones.
    static func beginLife() throws(SystemCallFailure) {
        restoreSignals()
        raiseOOMScore()
        try ProcessHardening.dieWithParent()
        try call("prctl") { linux_prctl(Int32(LINUX_PR_SET_DUMPABLE), 0) }
        try call("prctl") { linux_prctl(Int32(LINUX_PR_SET_NO_NEW_PRIVS), 1) }
        try limit(RLIMIT_CORE, to: 0)
        linux_close_from(3)
    }

    /// Sets the resource limits.
    static func tighten(_ limits: Limits) throws(SystemCallFailure) {
        try limit(RLIMIT_AS, to: limits.addressSpace)
        try limit(RLIMIT_DATA, to: limits.addressSpace)
        try limit(RLIMIT_CPU, to: limits.processorSeconds)
        try limit(RLIMIT_FSIZE, to: 0)
    }

    /// Resets all signal handlers, because Swift's crash handler would print the contents of
    /// memory.
    private static func restoreSignals() {
        for number in 1..<NSIG where number != SIGKILL && number != SIGSTOP {
            signal(number, SIG_DFL)
        }
    }

    /// Makes this process the first to be killed when the machine runs out of memory, instead of a
    /// process with unsaved work.
    private static func raiseOOMScore() {
        let file = retrying { unsafe open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC) }
        // This helps other processes and is not part of the confinement, so it is skipped without
        // /proc.
        guard file >= 0 else { return }
        _ = unsafe write(file, "1000", 4)
        close(file)
    }

    static func limit(
        _ resource: __rlimit_resource, to most: Int
    ) throws(SystemCallFailure) {
        var limit = rlimit()
        let kind = __rlimit_resource_t(resource.rawValue)
        try call("getrlimit") { unsafe getrlimit(kind, &limit) }
        // Keep a limit that is already lower: only root can raise one.
        limit.rlim_max = min(limit.rlim_max, rlim_t(most))
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max)
        try call("setrlimit") { unsafe setrlimit(kind, &limit) }
    }

    /// Allows the standard streams, memory, clocks, randomness and exiting.
    static func allowComputation(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        try filter.allow("read", when: .argument(0, is: STDIN_FILENO))
        try filter.allow("write", when: .argument(0, is: STDOUT_FILENO))
        try filter.allow("write", when: .argument(0, is: STDERR_FILENO))
        // Memory, but not executable memory.
        try filter.allow("mmap", when: .argument(2, isWithout: PROT_EXEC))
        try filter.allow("mprotect", when: .argument(2, isWithout: PROT_EXEC))
        for call: StaticString in ["mremap", "munmap", "madvise", "brk"] { try filter.allow(call) }
        for call: StaticString in ["clock_gettime", "gettimeofday", "time", "getrandom"] {
            try filter.allow(call)
        }
        // `sysinfo`: glibc's qsort reads the size of the machine's memory once.
        for call: StaticString in ["futex", "sysinfo", "exit", "exit_group"] {
            try filter.allow(call)
        }
        // The calls that abort() makes, so that a library's abort is not mistaken for a forbidden
        // call: it writes a message, and sends the signal to this process.
        try filter.allow("writev", when: .argument(0, is: STDERR_FILENO))
        for call: StaticString in ["getpid", "gettid", "rt_sigprocmask"] { try filter.allow(call) }
        try filter.allow("tgkill", when: .argument(0, is: getpid()))
    }
}

// Confinement of a process that calls libraries whose system calls cannot be listed completely.
extension Confinement {
    /// Allows threads, and makes attempts to open files fail.
    static func allowLibraries(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        // Each memory arena reserves 64 MiB of the limited address space, and each thread would get
        // its own.
        linux_use_one_arena()
        // For a new thread, the kernel ignores or refuses the flags that create namespaces.
        try filter.allow("clone", when: .argument(0, has: Int32(LINUX_CLONE_THREAD)))
        // The flags of clone3 are in memory, where the filter cannot see them. After ENOSYS, glibc
        // uses clone.
        try filter.answer("clone3", with: ENOSYS)
        for call: StaticString in ["set_robust_list", "rseq", "sched_yield"] {
            try filter.allow(call)
        }
        // For ``ProcessorTime/limited(to:_:)``. The limit cannot exceed its maximum, which cannot
        // be raised.
        try filter.allow(
            "prlimit64", when: .argument(0, is: 0),
            .argument(1, is: Int32(RLIMIT_CPU.rawValue)))
        // Before it starts the first thread, glibc installs this signal's handler, for changing
        // user IDs.
        try filter.allow("rt_sigaction", when: .argument(0, is: 33))
        // Libraries use these calls to name threads and to count processors; they work without
        // them.
        for call: StaticString in ["prctl", "sched_getaffinity"] {
            try filter.answer(call, with: EPERM)
        }
        try answerFileCalls(filter)
    }

    /// Makes attempts to open or inspect files fail instead of killing the process.
    static func answerFileCalls(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        for call: StaticString in ["open", "openat", "access", "stat", "newfstatat", "readlink"] {
            try filter.answer(call, with: EACCES)
        }
    }
}
