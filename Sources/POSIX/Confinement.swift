internal import CLinux
internal import Glibc

/// Gives up everything but thinking, memory, and three open descriptors, for the rest of a process's life.
///
/// Afterwards the process may read descriptor 0, write descriptors 1 and 2, ask for memory that is
/// not executable, look at clocks, draw random bytes, and end. Any other system call ends it at once
/// (`SIGSYS`). There is no way back and no half way: what cannot be given up is an error.
public enum Confinement {
    /// How much the confined process may use.
    public struct Limits: Sendable {
        /// Bytes of address space, libraries included.
        public let addressSpace: Int
        /// Seconds of processor time over the process's whole life.
        public let processorSeconds: Int

        /// Sets both limits.
        public init(addressSpace: Int, processorSeconds: Int) {
            self.addressSpace = addressSpace
            self.processorSeconds = processorSeconds
        }
    }

    /// Confines this process; what it needs from the file system must be loaded by now.
    ///
    /// The process must have one thread. It also dies with the *thread* that started it, so that
    /// nobody's child spins on alone.
    ///
    /// - Throws: the step that failed, by its call's name, such as `seccomp_load` on a kernel or in a
    ///   container without seccomp. The process must then not touch what it wanted to be confined for.
    public static func enter(_ limits: Limits) throws(SystemCallFailure) {
        try beginLife()
        try tighten(limits)
        try limit(RLIMIT_NOFILE, to: 0)
        let filter = try SystemCallFilter()
        try allowThinking(filter)
        try filter.load()
    }

    /// What comes first: signals do what they do by themselves, the process dies with its parent, gains
    /// nothing, and holds no descriptor but the standard ones.
    static func beginLife() throws(SystemCallFailure) {
        restoreSignals()
        volunteerForMemoryShortage()
        try ProcessHardening.dieWithParent()
        try control("prctl", LINUX_PR_SET_DUMPABLE, 0)
        try control("prctl", LINUX_PR_SET_NO_NEW_PRIVS, 1)
        try limit(RLIMIT_CORE, to: 0)
        linux_close_from(3)
    }

    /// What the process may use from now on.
    static func tighten(_ limits: Limits) throws(SystemCallFailure) {
        try limit(RLIMIT_AS, to: limits.addressSpace)
        try limit(RLIMIT_DATA, to: limits.addressSpace)
        try limit(RLIMIT_CPU, to: limits.processorSeconds)
        try limit(RLIMIT_FSIZE, to: 0)
    }

    /// Lets every signal do what it does by itself: Swift's crash handler would print memory.
    private static func restoreSignals() {
        for number in 1..<NSIG where number != SIGKILL && number != SIGSTOP {
            signal(number, SIG_DFL)
        }
    }

    /// Makes this process the first to be ended when the machine runs out of memory, instead of one that
    /// holds somebody's work.
    private static func volunteerForMemoryShortage() {
        let file = retrying { unsafe open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC) }
        // A courtesy to the others, and no part of the confinement: without /proc it is not done.
        guard file >= 0 else { return }
        _ = unsafe write(file, "1000", 4)
        close(file)
    }

    private static func control(
        _ call: String, _ operation: some BinaryInteger, _ argument: UInt
    ) throws(SystemCallFailure) {
        guard linux_prctl(Int32(operation), argument) == 0 else {
            throw SystemCallFailure(call: call, number: errno)
        }
    }

    static func limit(
        _ resource: __rlimit_resource, to most: Int
    ) throws(SystemCallFailure) {
        var limit = rlimit()
        let kind = __rlimit_resource_t(resource.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else {
            throw SystemCallFailure(call: "getrlimit", number: errno)
        }
        // A limit that is tighter already stays: only root may raise one.
        limit.rlim_max = min(limit.rlim_max, rlim_t(most))
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max)
        guard unsafe setrlimit(kind, &limit) == 0 else {
            throw SystemCallFailure(call: "setrlimit", number: errno)
        }
    }

    /// Allows the standard streams, memory, clocks, chance, and an end.
    static func allowThinking(_ filter: borrowing SystemCallFilter) throws(SystemCallFailure) {
        try filter.allow("read", when: .argument(0, is: STDIN_FILENO))
        try filter.allow("write", when: .argument(0, is: STDOUT_FILENO))
        try filter.allow("write", when: .argument(0, is: STDERR_FILENO))
        // Memory, but none that could be run as a program.
        try filter.allow("mmap", when: .argument(2, isWithout: PROT_EXEC))
        try filter.allow("mprotect", when: .argument(2, isWithout: PROT_EXEC))
        for call: StaticString in ["mremap", "munmap", "madvise", "brk"] { try filter.allow(call) }
        for call: StaticString in ["clock_gettime", "gettimeofday", "time", "getrandom"] {
            try filter.allow(call)
        }
        // `sysinfo`: glibc's qsort asks once how much memory the machine has.
        for call: StaticString in ["futex", "sysinfo", "exit", "exit_group"] {
            try filter.allow(call)
        }
        // What abort() does, so that a library's own alarm is told from a forbidden call: say why,
        // and send the signal to this very process.
        try filter.allow("writev", when: .argument(0, is: STDERR_FILENO))
        for call: StaticString in ["getpid", "gettid", "rt_sigprocmask"] { try filter.allow(call) }
        try filter.allow("tgkill", when: .argument(0, is: getpid()))
    }
}
