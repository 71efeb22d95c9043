internal import POSIX

/// Whoever brings a question to a server and its answer back.
public protocol Messenger {
    /// Asks once.
    mutating func carry(_ errand: Errand) throws(CourierFailure) -> CourierAnswer
}

/// Starts `watchword-courier`, a process of its own for each errand, and believes nothing that it says
/// before it was checked.
///
/// The courier has one connection, to the server named, and neither files nor the vault's memory. TLS, HTTP and JSON of
/// a stranger are taken apart there only.
public struct Courier: Messenger, Sendable {
    /// The longest single wait: of the time for which the whole program is stopped, no more is counted.
    private static let slice = Duration.milliseconds(500)

    private let path: String
    private let timeout: Duration

    /// Names the program to start.
    ///
    /// - Parameters:
    ///   - path: The program; by default the one beside the running program, or else where it is
    ///     installed for it (`../libexec/watchword/`).
    ///   - timeout: For the whole errand; longer than ``CourierLoop``'s own limits.
    /// - Throws: ``CourierFailure/notFound`` when no path is given and there is none.
    public init(path: String? = nil, timeout: Duration = .seconds(60)) throws(CourierFailure) {
        guard let path = path ?? RunningProgram.companion("watchword-courier") else {
            throw .notFound
        }
        self.path = path
        self.timeout = timeout
    }

    /// Carries one errand.
    ///
    /// It must be called from a thread that lives as long: the kernel ends the courier with it.
    public func carry(_ errand: Errand) throws(CourierFailure) -> CourierAnswer {
        precondition(errand.isCarriable, "an errand was checked when it was put together")
        let child: ChildProcess
        do throws(SystemCallFailure) {
            child = try ChildProcess(running: path)
        } catch {
            throw error.isMissingFile ? .notFound : .cannotStart(error)
        }
        let reply = try talk(to: child, about: errand)
        guard reply.count > 0 else { throw .died(child.end().0) }
        guard let result = reply.withBytes({ Reply(parsing: $0) }) else { throw .badAnswer }
        return try result.get()
    }

    /// Sends the errand, and takes everything that comes until the pipe ends.
    private func talk(
        to child: ChildProcess, about errand: Errand
    ) throws(CourierFailure) -> WipedBuffer {
        do throws(SystemCallFailure) {
            let form = try errand.wireForm()
            let count = UInt32(form.count)
            let header = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            let reply = try WipedBuffer(capacity: Wire.largestReply)
            var left = timeout
            try Courier.send(header.span, to: child, &left)
            try form.withBytes { bytes throws(SystemCallFailure) in
                try Courier.send(bytes, to: child, &left)
            }
            while left > .zero {
                switch try reply.append({ output throws(SystemCallFailure) in
                    try child.output.readAvailable(into: &output)
                }) {
                case .moved: continue
                case .ended: return reply
                case .wouldWait:
                    left -= try Polling.wait(
                        for: [.reading(child.output)], timeout: min(left, Courier.slice))
                }
            }
        } catch {
            throw .system(error)
        }
        throw .timedOut
    }

    // A courier that has ended takes nothing more; what it had to say is read next.
    private static func send(
        _ bytes: Span<UInt8>, to child: ChildProcess, _ left: inout Duration
    ) throws(SystemCallFailure) {
        var sent = 0
        while left > .zero, sent < bytes.count {
            switch try child.input.writeAvailable(bytes.extracting(sent..<bytes.count)) {
            case .moved(let count): sent += count
            case .ended: return
            case .wouldWait:
                left -= try Polling.wait(
                    for: [.writing(child.input)], timeout: min(left, Courier.slice))
            }
        }
    }
}
