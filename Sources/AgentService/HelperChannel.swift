internal import POSIX
internal import Synchronization

/// The key holder's connection to the supervisor, which starts programs for it.
final class HelperChannel: Sendable {
    /// The request for `watchword-presence`, and its positive response; each is one byte.
    static let presence: UInt8 = 1
    /// The byte that says that the program was not found, or could not be started.
    static let failed: UInt8 = 0

    /// A program that the supervisor started; it is killed when this value is released.
    struct Started: ~Copyable, Sendable {
        /// The program's standard input and output.
        let connection: FileDescriptor
        /// The supervisor kills the program when this closes.
        private let life: FileDescriptor

        fileprivate init(
            connection: consuming FileDescriptor, life: consuming FileDescriptor
        ) {
            self.connection = connection
            self.life = life
        }
    }

    private let channel: FileDescriptor
    private let turn = Mutex(())

    init(_ channel: consuming FileDescriptor) { self.channel = channel }

    /// Asks for `watchword-presence`; `nil` if it could not be started.
    func startPresence() throws(SystemCallFailure) -> Started? {
        try turn.withLock { _ throws(SystemCallFailure) in
            try channel.send(HelperChannel.presence)
            guard let connection = try channel.receiveFile()?.takeFile(),
                let life = try channel.receiveFile()?.takeFile()
            else { return nil }
            return Started(connection: connection, life: life)
        }
    }
}
