internal import Synchronization
internal import WatchwordSystem

/// The key holder's connection to the supervisor, which starts programs for it.
final class HelperChannel: Sendable {
    /// The request for `watchword-presence`, and its positive response; each is one byte.
    static let presence: UInt8 = 1
    /// The request for `watchword-presence` for another user; four bytes with the user ID follow.
    static let presenceOfUser: UInt8 = 2
    /// The request for `watchword-courier`, and its positive response.
    static let courier: UInt8 = 3
    /// The request for `watchword-token`, and its positive response.
    static let token: UInt8 = 4
    /// The request for `watchword-presence` to report only the enrolled fingers of a user; four
    /// bytes with the user ID follow.
    static let fingersOfUser: UInt8 = 5
    /// The response if the program was not found or could not be started.
    static let failed: UInt8 = 0

    /// A program that the supervisor started; it is killed when this value is released.
    struct Started: ~Copyable, Sendable {
        // The first file is the program's standard input and output. The supervisor kills the
        // program when the second one closes.
        private let files: FilePair
        /// The program's standard input and output, for another thread that ends the wait for it.
        let sharedConnection: SharedDescriptor

        fileprivate init(_ files: consuming FilePair) throws(SystemCallFailure) {
            sharedConnection = SharedDescriptor(try files.first.duplicate())
            self.files = files
        }

        /// Lends the program's standard input and output.
        func withConnection<Result, Failure: Error>(
            _ body: (borrowing FileDescriptor) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(files.first)
        }
    }

    private let channel: FileDescriptor
    /// Whether the channel is synchronised: each request has received its response.
    private let isUsable = Mutex(true)
    private let timeout: Duration

    init(_ channel: consuming FileDescriptor, timeout: Duration = .seconds(10)) {
        self.channel = channel
        self.timeout = timeout
    }

    /// Requests `watchword-presence`; returns `nil` if it could not be started.
    ///
    /// After a response that is late or wrong, the channel is closed: a later response could belong
    /// to an earlier request. The supervisor then ends, and the keys are wiped.
    ///
    /// - Parameter user: the user whom the program checks; `nil` for the user of this process.
    func startPresence(for user: UInt32? = nil) throws(SystemCallFailure) -> Started? {
        guard let user else { return try start(HelperChannel.presence) }
        return try start(
            HelperChannel.presence,
            requestedBy: [HelperChannel.presenceOfUser] + UserNumber.bytes(of: user))
    }

    /// Requests `watchword-presence` to report the enrolled fingers of a user; fails like
    /// ``startPresence(for:)``.
    func startFingers(of user: UInt32) throws(SystemCallFailure) -> Started? {
        try start(
            HelperChannel.fingersOfUser,
            requestedBy: [HelperChannel.fingersOfUser] + UserNumber.bytes(of: user))
    }

    /// Requests `watchword-courier`; fails like ``startPresence(for:)``.
    func startCourier() throws(SystemCallFailure) -> Started? {
        try start(HelperChannel.courier)
    }

    /// Requests `watchword-token`; fails like ``startPresence(for:)``.
    func startToken() throws(SystemCallFailure) -> Started? {
        try start(HelperChannel.token)
    }

    /// - Parameters:
    ///   - program: the positive response.
    ///   - request: the request, if it differs from the response.
    private func start(
        _ program: UInt8, requestedBy request: [UInt8]? = nil
    ) throws(SystemCallFailure) -> Started? {
        try isUsable.withLock { isUsable throws(SystemCallFailure) in
            guard isUsable else { throw HelperChannel.closed }
            isUsable = false
            defer { if !isUsable { channel.shutDown() } }
            for byte in request ?? [program] { try channel.send(byte) }
            let ready = try Polling.ready(of: [.reading(channel)], timeout: timeout)
            guard ready[0], let response = try channel.receiveFile() else {
                throw HelperChannel.closed
            }
            switch response.byte {
            case HelperChannel.failed:
                guard response.takeFile() == nil else { throw HelperChannel.closed }
                isUsable = true
                return nil
            case program:
                guard let files = response.takeFiles() else { throw HelperChannel.closed }
                isUsable = true
                return try Started(files)
            default: throw HelperChannel.closed
            }
        }
    }

    private static let closed = SystemCallFailure(call: "recvmsg", number: 71)
}

/// The encoding of a user ID between the processes of the agent.
enum UserNumber {
    /// Four bytes, the most significant one first.
    static func bytes(of user: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: user >> $0) }
    }

    /// Reads the four bytes; `nil` if the other side closed the connection.
    static func read(from channel: borrowing FileDescriptor) throws(SystemCallFailure) -> UInt32? {
        var user: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = try channel.receiveFile()?.byte else { return nil }
            user = user << 8 | UInt32(byte)
        }
        return user
    }
}
