internal import CLinux
internal import Glibc

/// A program started with pipes to its standard input and from its standard output.
///
/// It receives an environment that is empty by default, its name and its arguments, `/dev/null` as
/// standard error, default signal handling, and no other descriptor, whether ours or inherited. It
/// is killed and reaped when the last reference is released.
@safe public final class ChildProcess {
    /// How a child process ended.
    public enum Ending: Hashable, Sendable {
        /// The process exited with this status.
        case exited(Int32)
        /// The process crashed with this signal, because of a trap, an invalid pointer or an abort.
        case crashed(signal: Int32)
        /// The kernel killed it for a system call that its filter does not allow.
        case forbiddenCall
        /// The process exceeded its CPU time limit.
        case processorTimeSpent
        /// A process, usually this one, killed the child process (SIGKILL), or the kernel did
        /// because memory ran out.
        case killed
        /// The process was reaped elsewhere (`SIGCHLD` is ignored), so the status is unknown.
        case unknown
    }

    /// The child's standard input; non-blocking.
    public let input: FileDescriptor
    /// The child's standard output; non-blocking.
    public let output: FileDescriptor
    let identifier: pid_t
    /// This process's peak memory in bytes when the child had just been started.
    private let ownPeakMemory: Int
    private var ending: (Ending, peakMemory: Int)?

    /// Starts the program at `path`, with at most one argument and an empty environment.
    ///
    /// - Throws: the call that failed, such as `posix_spawn` with `ENOENT`.
    public convenience init(
        running path: String, argument: String? = nil
    ) throws(SystemCallFailure) {
        try self.init(
            running: path, arguments: argument.map { [$0] } ?? [], environment: [])
    }

    /// Starts the program at `path` with these arguments and environment variables (`NAME=value`).
    public init(
        running path: String, arguments: [String] = [], environment: [String]
    ) throws(SystemCallFailure) {
        let toChild = try Pipe()
        let fromChild = try Pipe()
        identifier = try ChildProcess.spawn(
            Program(path: path, arguments: arguments, environment: environment),
            input: toChild.reading, output: fromChild.writing)
        // posix_spawn returns after exec. Before exec, the child shares this process's memory,
        // which another thread may still enlarge.
        ownPeakMemory = ChildProcess.peakMemory(of: RUSAGE_SELF)
        input = toChild.writing
        output = fromChild.reading
        try input.setBlocking(false)
        try output.setBlocking(false)
    }

    /// Starts the program at `path` with one socket as its standard input and output.
    ///
    /// ``input`` and ``output`` are the other end of the socket.
    public init(
        running path: String, arguments: [String] = [], over connection: consuming SocketPair
    ) throws(SystemCallFailure) {
        identifier = try ChildProcess.spawn(
            Program(path: path, arguments: arguments, environment: []),
            input: connection.second, output: connection.second)
        ownPeakMemory = ChildProcess.peakMemory(of: RUSAGE_SELF)
        output = try connection.first.duplicate()
        input = connection.takeFirst()
        // Both are the same open file.
        try input.setBlocking(false)
    }

    deinit { _ = end() }

    /// Kills the child unless it is already dying, waits for it, and returns how it ended.
    ///
    /// If the child was already dying, its own status is returned. The second value is its peak
    /// memory use in bytes; 0 if this process had used as much before it started the child.
    ///
    /// - Parameter includingItsOwn: whether to also kill the programs that the child started, if
    ///   they are still in its process group.
    @discardableResult public func end(includingItsOwn: Bool = false) -> (Ending, peakMemory: Int) {
        if let ending { return ending }
        beginEnd(includingItsOwn: includingItsOwn)
        var status: Int32 = 0
        var usage = rusage()
        let reaped = retrying { unsafe wait4(identifier, &status, 0, &usage) }
        let how = reaped == identifier ? Ending(status: status) : .unknown
        // The kernel's figure includes the time before exec, when the child shared this process's
        // memory. A figure that is no higher than this process's own peak shows nothing about the
        // child. The kernel counts pages in batches for each processor, so two readings of the same
        // memory can differ by a little.
        let peak = Int(usage.ru_maxrss) * 1024
        let told = (how, peakMemory: peak > ownPeakMemory + (4 << 20) ? peak : 0)
        ending = told
        return told
    }

    /// Kills the child as ``end(includingItsOwn:)`` does, but does not wait for it.
    public func beginEnd(includingItsOwn: Bool) {
        guard ending == nil else { return }
        if includingItsOwn { kill(-identifier, SIGKILL) }
        // The process ID is not reused until the process is reaped (unless SIGCHLD is ignored,
        // which ``ProcessHardening`` prevents).
        kill(identifier, SIGKILL)
    }

    private static func peakMemory(of who: __rusage_who) -> Int {
        var usage = rusage()
        // Fails only for an invalid address or constant.
        _ = unsafe getrusage(__rusage_who_t(who.rawValue), &usage)
        return Int(usage.ru_maxrss) * 1024
    }

    /// A program to start.
    struct Program {
        let path: String
        /// The arguments after the program's name.
        let arguments: [String]
        /// The environment variables (`NAME=value`).
        let environment: [String]
        /// Whether the program gets its own session and the working folder `/`, instead of a
        /// process group in this session.
        var hasOwnSession = false
    }

    /// Starts a program, without waiting for it.
    static func spawn(
        _ program: Program, input: borrowing FileDescriptor, output: borrowing FileDescriptor
    ) throws(SystemCallFailure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        try callReturningErrorNumber("posix_spawn_file_actions_init") {
            unsafe posix_spawn_file_actions_init(&actions)
        }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try callReturningErrorNumber("posix_spawn_file_actions_adddup2") {
            unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO)
        }
        try callReturningErrorNumber("posix_spawn_file_actions_adddup2") {
            unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
        }
        // A library's messages about an image could contain the image's secret.
        try callReturningErrorNumber("posix_spawn_file_actions_addopen") {
            unsafe posix_spawn_file_actions_addopen(
                &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        // Our own descriptors are close-on-exec, but inherited ones may not be. One of them could
        // be the passphrase (`--passphrase-file /dev/fd/3`), and PAM modules are third-party code.
        try callReturningErrorNumber("posix_spawn_file_actions_addclosefrom_np") {
            unsafe linux_spawn_close_from(&actions, STDERR_FILENO + 1)
        }
        if program.hasOwnSession {
            try callReturningErrorNumber("posix_spawn_file_actions_addchdir_np") {
                unsafe linux_spawn_change_folder(&actions, "/")
            }
        }

        var attributes = posix_spawnattr_t()
        try callReturningErrorNumber("posix_spawnattr_init") {
            unsafe posix_spawnattr_init(&attributes)
        }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var every = sigset_t()
        var none = sigset_t()
        unsafe sigfillset(&every)
        unsafe sigemptyset(&none)
        try callReturningErrorNumber("posix_spawnattr_setsigdefault") {
            unsafe posix_spawnattr_setsigdefault(&attributes, &every)
        }
        try callReturningErrorNumber("posix_spawnattr_setsigmask") {
            unsafe posix_spawnattr_setsigmask(&attributes, &none)
        }
        // A separate process group, so that a Ctrl-C that the parent handles does not interrupt the
        // reading of an image. The child still dies with the parent.
        try callReturningErrorNumber("posix_spawnattr_setpgroup") {
            unsafe posix_spawnattr_setpgroup(&attributes, 0)
        }
        let flags = Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
        let group = program.hasOwnSession ? linux_spawn_own_session : Int16(POSIX_SPAWN_SETPGROUP)
        try callReturningErrorNumber("posix_spawnattr_setflags") {
            unsafe posix_spawnattr_setflags(&attributes, flags | group)
        }

        var started: pid_t = 0
        let words = StringList([program.path] + program.arguments)
        let variables = StringList(program.environment)
        try callReturningErrorNumber("posix_spawn") {
            withExtendedLifetime((words, variables)) {
                unsafe posix_spawn(
                    &started, program.path, &actions, &attributes, words.pointers,
                    variables.pointers)
            }
        }
        return started
    }

    /// C strings that end with a null pointer.
    @safe private final class StringList {
        let pointers: [UnsafeMutablePointer<CChar>?]

        init(_ texts: [String]) { unsafe pointers = texts.map { unsafe strdup($0) } + [nil] }

        deinit { unsafe pointers.forEach { unsafe free($0) } }
    }
}

extension ChildProcess.Ending {
    /// Decodes the status of wait(2), whose macros Swift does not import.
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

/// A copy of this process, which receives nothing that this process reads later.
public enum ProcessCopy {
    /// Starts a copy that runs `body` without this process's standard input and output.
    ///
    /// The process must have one thread. The copy dies with this process.
    ///
    /// - Parameter body: called in the copy with its end of a connection; then the copy ends.
    /// - Returns: this process's end of the connection.
    public static func start(
        _ body: (borrowing FileDescriptor) throws(SystemCallFailure) -> Void
    ) throws(SystemCallFailure) -> FileDescriptor {
        let sockets = try SocketPair()
        // This process does not wait for the copy, so the kernel must discard the copy's exit
        // status.
        signal(SIGCHLD, SIG_IGN)
        let copy = try call("fork") { fork() }
        guard copy == 0 else { return sockets.takeFirst() }
        do throws(SystemCallFailure) {
            try ProcessHardening.dieWithParent()
            let nothing = try FileDescriptor(openingDevice: "/dev/null")
            for number in [STDIN_FILENO, STDOUT_FILENO] {
                try call("dup2") { dup2(nothing.number, number) }
            }
            try body(sockets.second)
        } catch {
            // The other side sees the end of the connection.
        }
        ProcessEnd.atOnce(with: 0)
    }
}

/// Both ends of a pipe; neither is inherited by programs that are started later.
struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(SystemCallFailure) {
        var ends: (Int32, Int32) = (-1, -1)
        try call("pipe2") { unsafe linux_pipe(&ends.0, &ends.1) }
        let reading = FileDescriptor(owning: ends.0)
        let writing = FileDescriptor(owning: ends.1)
        let clearReading = try reading.aboveStandardStreams()
        let clearWriting = try writing.aboveStandardStreams()
        self.reading = clearReading
        self.writing = clearWriting
    }
}

extension FileDescriptor {
    /// The same open file with a number above 2, in case it was given the number of a closed
    /// standard stream.
    fileprivate consuming func aboveStandardStreams() throws(SystemCallFailure) -> FileDescriptor {
        number > STDERR_FILENO ? self : try duplicate()
    }

    /// Duplicates the descriptor with a number above 2.
    public func duplicate() throws(SystemCallFailure) -> FileDescriptor {
        let copy = try call("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
        return FileDescriptor(owning: copy)
    }

    /// Sets whether reading and writing block.
    package func setBlocking(_ blocks: Bool) throws(SystemCallFailure) {
        let flags = try call("fcntl") { fcntl(number, F_GETFL) }
        let wanted = blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK
        try call("fcntl") { fcntl(number, F_SETFL, wanted) }
    }
}
