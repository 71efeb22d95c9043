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
        // A killed program may take a long time to end, for instance if its file system hangs.
        let killed = KilledProgram(child: child)
        if let thread = WorkerThread({ killed.reap() }) {
            thread.detach()
        } else {
            killed.reap()
        }
    }

    private struct KilledProgram: @unchecked Sendable {
        // `@unchecked Sendable`: the main thread does not use the object after it has started the
        // other thread.
        let child: ChildProcess

        func reap() { child.end() }
    }

    /// Becomes ready when the key holder no longer needs the program.
    var life: Polling.Interest { .reading(lifeline) }

    var isOverdue: Bool { deadline.timeRemaining == .zero }
}

/// A program that the key holder requests from the supervisor.
struct ProgramRequest {
    /// The request for the program, which is also the positive response.
    let program: UInt8
    let name: String
    /// The user whom the program checks; `nil` for the user of this process.
    let user: UInt32?

    /// How long the program may run: longer than its task can take.
    var timeout: Duration {
        // A person may be asked for a PIN three times.
        program == HelperChannel.token ? .seconds(600) : .seconds(90)
    }

    /// The program's arguments.
    ///
    /// Only the user ID is passed: the program looks up the user's name itself, because a directory
    /// service may be slow.
    var arguments: [String] {
        let option = program == HelperChannel.fingersOfUser ? "--fingers" : "--user"
        return user.map { [option, "\($0)"] } ?? []
    }

    /// Reads the next request.
    ///
    /// - Returns: `nil` if the key holder has ended, or sends an unknown request.
    static func next(
        from requests: borrowing FileDescriptor, in mode: AgentMode
    ) throws(SystemCallFailure) -> ProgramRequest? {
        let (presence, name) = (HelperChannel.presence, "watchword-presence")
        switch (try requests.receiveFile()?.byte, mode) {
        case (HelperChannel.presence, .user):
            return ProgramRequest(program: presence, name: name, user: nil)
        case (HelperChannel.presenceOfUser, .system):
            guard let user = try UserNumber.read(from: requests) else { return nil }
            return ProgramRequest(program: presence, name: name, user: user)
        case (HelperChannel.fingersOfUser, .system):
            guard let user = try UserNumber.read(from: requests) else { return nil }
            return ProgramRequest(program: HelperChannel.fingersOfUser, name: name, user: user)
        case (HelperChannel.courier, _):
            return ProgramRequest(
                program: HelperChannel.courier, name: "watchword-courier", user: nil)
        case (HelperChannel.token, _):
            return ProgramRequest(program: HelperChannel.token, name: "watchword-token", user: nil)
        default: return nil
        }
    }
}
