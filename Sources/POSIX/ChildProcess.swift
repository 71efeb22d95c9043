internal import CLinux
internal import Glibc

/// A program that was started with a pipe to its standard input and one from its standard output.
///
/// It gets an empty environment, no argument but its name, `/dev/null` as standard error, every signal
/// at its default, and no other descriptor, neither ours nor one that we inherited. When the last
/// owner lets go it is killed and reaped.
@safe public final class ChildProcess {
    /// How a child ended.
    public enum Ending: Hashable, Sendable {
        /// It left by itself, with this status.
        case exited(Int32)
        /// Its own fault ended it, by this signal: a trap, a wild pointer, an abort.
        case crashed(signal: Int32)
        /// The kernel ended it for a system call that its filter does not allow.
        case forbiddenCall
        /// It used up its processor time.
        case processorTimeSpent
        /// It was killed from outside: by us, or by the kernel for want of memory.
        case killed
        /// Somebody else reaped it (`SIGCHLD` is ignored), so nobody knows.
        case unknown
    }

    /// Writes to the child's standard input; does not block.
    public let input: FileDescriptor
    /// Reads the child's standard output; does not block.
    public let output: FileDescriptor
    let identifier: pid_t
    private var ending: (Ending, peakMemory: Int)?

    /// Starts the program at `path`.
    ///
    /// - Throws: the call that failed, such as `posix_spawn` with `ENOENT`.
    public init(running path: String) throws(SystemCallFailure) {
        let toChild = try Pipe()
        let fromChild = try Pipe()
        identifier = try ChildProcess.spawn(
            path, input: toChild.reading, output: fromChild.writing)
        input = toChild.writing
        output = fromChild.reading
        try input.setBlocking(false)
        try output.setBlocking(false)
    }

    deinit { _ = end() }

    /// Kills the child unless it is dying already, waits for it, and tells how it ended.
    ///
    /// A child that was dying keeps its own ending. The second value is the most memory it ever had
    /// in use, in bytes.
    ///
    /// - Parameter includingItsOwn: Whether the programs that the child started die with it, as far as
    ///   they stayed in its process group.
    @discardableResult public func end(includingItsOwn: Bool = false) -> (Ending, peakMemory: Int) {
        if let ending { return ending }
        if includingItsOwn { kill(-identifier, SIGKILL) }
        // The number is ours until it is reaped below, so it cannot have become somebody else's
        // (unless SIGCHLD is ignored, which ``ProcessHardening`` rules out).
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        var usage = rusage()
        let reaped = retrying { unsafe wait4(identifier, &status, 0, &usage) }
        let how = reaped == identifier ? Ending(status: status) : .unknown
        let told = (how, peakMemory: Int(usage.ru_maxrss) * 1024)
        ending = told
        return told
    }

    private static func spawn(
        _ path: String, input: borrowing FileDescriptor, output: borrowing FileDescriptor
    ) throws(SystemCallFailure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        try check("posix_spawn_file_actions_init", unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try check(
            "posix_spawn_file_actions_adddup2",
            unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO))
        try check(
            "posix_spawn_file_actions_adddup2",
            unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO))
        // What a library has to say about a picture may hold the picture's secret.
        try check(
            "posix_spawn_file_actions_addopen",
            unsafe posix_spawn_file_actions_addopen(
                &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0))
        // Our own descriptors close themselves; those that we inherited do not. One of them may be
        // the passphrase (`--passphrase-file /dev/fd/3`), and PAM modules are other people's code.
        try check(
            "posix_spawn_file_actions_addclosefrom_np",
            unsafe linux_spawn_close_from(&actions, STDERR_FILENO + 1))

        var attributes = posix_spawnattr_t()
        try check("posix_spawnattr_init", unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var every = sigset_t()
        var none = sigset_t()
        unsafe sigfillset(&every)
        unsafe sigemptyset(&none)
        try check(
            "posix_spawnattr_setsigdefault",
            unsafe posix_spawnattr_setsigdefault(&attributes, &every))
        try check(
            "posix_spawnattr_setsigmask", unsafe posix_spawnattr_setsigmask(&attributes, &none))
        // A process group of its own, so that a Ctrl-C that the parent outlives does not cost the
        // picture in hand; the parent's death ends the child all the same.
        try check("posix_spawnattr_setpgroup", unsafe posix_spawnattr_setpgroup(&attributes, 0))
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        try check(
            "posix_spawnattr_setflags",
            unsafe posix_spawnattr_setflags(&attributes, Int16(flags)))

        var started: pid_t = 0
        let result = unsafe path.withCString { path in
            let arguments = unsafe [UnsafeMutablePointer(mutating: path), nil]
            let environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
            return unsafe posix_spawn(
                &started, path, &actions, &attributes, arguments, environment)
        }
        try check("posix_spawn", result)
        return started
    }

    /// These calls return the error number instead of setting `errno`.
    private static func check(_ call: String, _ result: Int32) throws(SystemCallFailure) {
        guard result == 0 else { throw SystemCallFailure(call: call, number: result) }
    }
}

extension ChildProcess.Ending {
    /// Reads the status of wait(2), whose macros Swift does not see.
    fileprivate init(status: Int32) {
        let signal = status & 0x7f
        self =
            switch signal {
            case 0: .exited((status >> 8) & 0xff)
            case SIGSYS: .forbiddenCall
            case SIGXCPU: .processorTimeSpent
            case SIGKILL: .killed
            default: .crashed(signal: signal)
            }
    }
}
