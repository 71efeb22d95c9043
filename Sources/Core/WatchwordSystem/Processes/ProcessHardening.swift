internal import CLinux
internal import Glibc

/// Hardens a program before it reads its first secret.
public enum ProcessHardening {
    /// Prevents core dumps, access to memory by other processes, and the output of Swift's crash
    /// handler.
    ///
    /// Call it first. When the program traps, Swift's handler prints the memory that each register
    /// points to; it is replaced by the system's silent default. A write to a pipe without a reader
    /// fails (`EPIPE`) instead of raising a signal, because an image reader that crashes must not
    /// end this process.
    public static func apply() throws(SystemCallFailure) {
        for crash in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGQUIT] {
            try set(crash, SIG_DFL)
        }
        try set(SIGPIPE, SIG_IGN)
        // A write that exceeds the file size limit fails with an error, and does not end the
        // process.
        try set(SIGXFSZ, SIG_IGN)
        try release([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGABRT])
        // If the parent process ignores SIGCHLD, this process inherits that setting. The kernel
        // would then discard our children's exit status, and could reuse their process IDs while we
        // still refer to them.
        try set(SIGCHLD, SIG_DFL)
        try call("prctl") { linux_prctl(Int32(LINUX_PR_SET_DUMPABLE), 0) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        try call("setrlimit") { unsafe setrlimit(core, &none) }
    }

    /// Makes the kernel kill this process when its parent ends.
    ///
    /// - Throws: `getppid` with `ESRCH` if the parent has already ended.
    public static func dieWithParent() throws(SystemCallFailure) {
        // The parent may end before this takes effect. It may also be process 1, in a container.
        let parent = getppid()
        try call("prctl") { linux_prctl(Int32(LINUX_PR_SET_PDEATHSIG), UInt(SIGKILL)) }
        guard getppid() == parent else { throw SystemCallFailure(call: "getppid", number: ESRCH) }
    }

    /// Verifies that no debugger was attached before ``apply()`` prevented it.
    ///
    /// - Throws: `ptrace` with `EPERM` if one is.
    public static func requireNoTracer() throws(SystemCallFailure) {
        let file = try FileDescriptor(reading: "/proc/self/status")
        let lines = String(decoding: try file.bytes(atMost: 1 << 12), as: UTF8.self).split(
            separator: "\n")
        guard lines.contains("TracerPid:\t0") else {
            throw SystemCallFailure(call: "ptrace", number: EPERM)
        }
    }

    // Programs with a run loop block signals in their threads, and child processes inherit that.
    // Here Ctrl-C must end the program, while ignored signals (`nohup`) stay ignored.
    private static func release(_ signals: [Int32]) throws(SystemCallFailure) {
        var released = sigset_t()
        unsafe sigemptyset(&released)
        for signal in signals { unsafe sigaddset(&released, signal) }
        try callReturningErrorNumber("pthread_sigmask") {
            unsafe pthread_sigmask(SIG_UNBLOCK, &released, nil)
        }
    }

    private static func set(_ signal: Int32, _ handler: __sighandler_t?)
        throws(SystemCallFailure)
    {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        try call("sigaction") { unsafe sigaction(signal, &action, nil) }
    }
}
