internal import CLinux
internal import Glibc

/// What a program that holds secrets gives up before it reads the first of them.
public enum ProcessHardening {
    /// Rules out core dumps, other processes' looks into memory, and Swift's talkative crash handler.
    ///
    /// To be called first thing. Swift's handler prints the memory behind each register when the
    /// program traps: the system's silent default takes its place. A reader who goes away is
    /// noticed by the failing write (`EPIPE`) instead of by a signal, because a picture's reader
    /// that crashes must not take this process along.
    public static func apply() throws(SystemCallFailure) {
        for crash in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGQUIT] {
            try set(crash, SIG_DFL)
        }
        try set(SIGPIPE, SIG_IGN)
        // A file over a limit is a failed write with a sentence, not a death.
        try set(SIGXFSZ, SIG_IGN)
        // Whoever started us may ignore the end of children; we ask how they ended.
        try set(SIGCHLD, SIG_DFL)
        try release([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGABRT])
        // Whoever started us may have let it be ignored; the kernel would then forget our children's
        // endings, and give their numbers away while we still hold them for ours.
        try set(SIGCHLD, SIG_DFL)
        guard linux_prctl(Int32(LINUX_PR_SET_DUMPABLE), 0) == 0 else {
            throw SystemCallFailure(call: "prctl", number: errno)
        }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        guard unsafe setrlimit(core, &none) == 0 else {
            throw SystemCallFailure(call: "setrlimit", number: errno)
        }
    }

    /// Arranges that the kernel kills this process when the one that started it is gone.
    ///
    /// - Throws: `getppid` with `ESRCH` when it is gone already.
    public static func dieWithParent() throws(SystemCallFailure) {
        // It may be gone before the signal is arranged. It may also be process 1, in a container.
        let parent = getppid()
        guard linux_prctl(Int32(LINUX_PR_SET_PDEATHSIG), UInt(SIGKILL)) == 0 else {
            throw SystemCallFailure(call: "prctl", number: errno)
        }
        guard getppid() == parent else { throw SystemCallFailure(call: "getppid", number: ESRCH) }
    }

    // Threads of programs with a run loop hold signals back, and hand that on to what they start: here
    // Ctrl-C must end the program, and what is ignored (`nohup`) stays ignored.
    private static func release(_ signals: [Int32]) throws(SystemCallFailure) {
        var released = sigset_t()
        unsafe sigemptyset(&released)
        for signal in signals { unsafe sigaddset(&released, signal) }
        let result = unsafe pthread_sigmask(SIG_UNBLOCK, &released, nil)
        guard result == 0 else { throw SystemCallFailure(call: "pthread_sigmask", number: result) }
    }

    private static func set(_ signal: Int32, _ handler: __sighandler_t?)
        throws(SystemCallFailure)
    {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        guard unsafe sigaction(signal, &action, nil) == 0 else {
            throw SystemCallFailure(call: "sigaction", number: errno)
        }
    }
}
