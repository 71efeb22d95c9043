internal import Courier
internal import Glibc
internal import WatchwordSystem

/// What a compromised helper process could do, by name.
///
/// Each returns a number to report, if it returns.
private let faults: [String: @Sendable (Int32) -> Int32] = [
    "trap": { Int32([UInt8]()[Int($0) + 1]) },
    "abort": { _ in abort() },
    "exit": { _ in _exit(0) },
    "send an invalid response": { _ in
        _ = unsafe write(1, "\u{3}nothing", 8)
        _exit(0)
    },
    "send an endless response": { _ in
        while true { _ = unsafe write(1, "\u{3}or ever", 8) }
    },
    "open a socket": { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) },
    "fork": { _ in fork() },
    "run a program": { _ in unsafe execv("/bin/true", [nil]) },
    "signal the parent": { _ in kill(getppid(), 0) },
    "duplicate a descriptor": { dup2($0, 9) },
    "use another descriptor": { _ in Int32(unsafe send(9, "x", 1, 0)) },
    "filter the socket": { connection in
        var value: Int32 = 0
        return unsafe setsockopt(connection, SOL_SOCKET, SO_ATTACH_FILTER, &value, 4)
    },
    "map executable memory": { _ in
        _ = unsafe mmap(
            nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return 0
    },
    // These calls are answered with an error instead of being made.
    "open a file": { _ in unsafe open("/dev/null", O_RDONLY) < 0 ? errno : 0 },
    "connect elsewhere": { connection in
        // AF_UNSPEC would disconnect the socket, so that it could connect elsewhere.
        var nowhere = sockaddr(
            sa_family: sa_family_t(AF_UNSPEC),
            sa_data: (
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
            ))
        guard unsafe connect(connection, &nowhere, 16) == 0 else { return errno }
        var peer = sockaddr()
        var size = socklen_t(16)
        return unsafe getpeername(connection, &peer, &size) == 0 ? 0 : errno
    },
]

/// A helper process, confined like the real one, that performs the action named in the
/// "device name" of the request.
@main struct Program {
    struct Tools: ~Copyable {}

    static func main() { HTTPHelperLoop.run(prepare: { _ in Tools() }, ask: ask) }

    private static func ask(
        _ request: HelperRequest, _ tools: consuming Tools, _ connection: borrowing FileDescriptor
    ) throws(HTTPHelperFailure) -> HelperResponse {
        guard case .enrolment(_, let order, _) = request.operation, let fault = faults[order] else {
            throw .badResponse
        }
        let number = fault(connection.number)
        return .problem(
            HelperResponse.Problem(
                status: Int(number), type: PlainText(showing: order), retryAfter: 0))
    }
}
