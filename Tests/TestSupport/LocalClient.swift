public import WatchwordSystem

/// A client of a Unix socket; its reads block.
public final class LocalClient: Sendable {
    /// The connected socket, which blocks.
    public let file: FileDescriptor

    /// Connects, and sends bytes.
    public init(_ path: String, sending request: [UInt8] = []) throws {
        file = try LocalSocket.connect(to: path)
        try file.setBlocking(true)
        try send(request)
    }

    /// Sends bytes; the server may have closed the connection already.
    public func send(_ bytes: [UInt8]) throws { _ = try file.writeAvailable(bytes.span) }

    /// Everything that the server sends before it closes the connection, at most 64 bytes.
    public func answer() throws -> [UInt8] {
        // The connection is reset if the server has not read everything.
        try SystemCallFailure.nilIf(\.isConnectionLost, file.bytes(atMost: 64)) ?? []
    }

    /// Receives the same bytes on a thread that may wait.
    public func awaitAnswer() async throws -> [UInt8] {
        try await onOwnThread { [self] in try answer() }
    }
}
