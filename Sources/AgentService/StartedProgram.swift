internal import POSIX

/// A program that was started for the key holder.
final class StartedProgram {
    private let child: ChildProcess
    private let lifeline: FileDescriptor
    private let deadline: Moment

    /// Longer than any check or request to a server may take.
    private static let timeout = Duration.seconds(90)

    /// Starts the program at `path`, and sends its connection to the key holder.
    init(
        _ path: String, _ arguments: [String], for program: UInt8,
        handedOver channel: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        child = try ChildProcess(running: path, arguments: arguments, over: SocketPair())
        let life = try SocketPair()
        try channel.send(program, with: child.input, life.second)
        // The other end now belongs to the key holder alone.
        lifeline = life.takeFirst()
        deadline = .now + StartedProgram.timeout
    }

    deinit {
        child.beginEnd(includingItsOwn: true)
        // A killed program may take long to end, for instance if its file system hangs.
        let killed = KilledProgram(child: child)
        if let thread = WorkerThread({ killed.reap() }) {
            thread.detach()
        } else {
            killed.reap()
        }
    }

    private struct KilledProgram: @unchecked Sendable {
        // `@unchecked Sendable`: the main thread does not use it after it has started the other one.
        let child: ChildProcess

        func reap() { child.end() }
    }

    /// Becomes ready when the key holder no longer needs the program.
    var life: Polling.Interest { .reading(lifeline) }

    var isOverdue: Bool { deadline.timeRemaining == .zero }
}
