internal import WatchwordSystem

/// A program that was started for the key holder.
final class StartedProgram {
    private let child: ChildProcess
    private let lifeline: FileDescriptor
    private let deadline: Moment

    /// Starts the program at `path`, and sends its connection to the key holder.
    init(
        _ path: String, for request: ProgramRequest,
        handedOver channel: borrowing FileDescriptor
    ) throws(SystemCallFailure) {
        child = try ChildProcess(
            running: path, arguments: request.arguments, over: SocketPair())
        let life = try SocketPair()
        try channel.send(request.program, with: child.input, life.second)
        // The other end now belongs to the key holder alone.
        lifeline = life.takeFirst()
        deadline = .now + request.timeout
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
