import TestSupport
import Testing
import WatchwordSystem

@testable import Agent

/// The responses that the key holder accepts from the supervisor.
final class HelperChannelTests {
    private let supervisor: FileDescriptor
    private let channel: HelperChannel
    private let folder: TemporaryFolder

    init() throws {
        let pair = try SocketPair()
        supervisor = try pair.second.duplicate()
        channel = HelperChannel(pair.takeFirst(), timeout: .milliseconds(50))
        folder = try TemporaryFolder()
    }

    /// Whether the channel was closed, after the one request that was sent.
    private func isClosed() throws -> Bool {
        guard let request = try supervisor.receiveFile(),
            request.byte == HelperChannel.presence
        else { return false }
        return try supervisor.receiveFile() == nil
    }

    @Test("a program's two files come in one response")
    func started() throws {
        let (first, second) = (
            try folder.write([1], to: "first"), try folder.write([2], to: "second")
        )
        try supervisor.send(
            HelperChannel.presence, with: FileDescriptor(reading: first),
            FileDescriptor(reading: second))
        let program = try content { try channel.startPresence() }
        #expect(program == [1])
    }

    @Test("each program is requested by its own number, and no other number is accepted")
    func token() throws {
        let file = try FileDescriptor(reading: folder.write([3], to: "file"))
        try supervisor.send(HelperChannel.token, with: file, file)
        #expect(try content { try channel.startToken() } == [3])
        #expect(try supervisor.receiveFile()?.byte == HelperChannel.token)
        try supervisor.send(HelperChannel.courier, with: file, file)
        #expect(throws: SystemCallFailure(call: "recvmsg", number: 71)) {
            _ = try content { try channel.startToken() }
        }
    }

    @Test("a program can be started after an earlier one could not be started")
    func failed() throws {
        try supervisor.send(HelperChannel.failed)
        #expect(try content { try channel.startPresence() } == nil)
        let file = try FileDescriptor(reading: folder.write([3], to: "file"))
        try supervisor.send(HelperChannel.presence, with: file, file)
        #expect(try content { try channel.startPresence() } == [3])
    }

    @Test("a response that is late or wrong closes the channel", arguments: 0..<4)
    func surprises(number: Int) throws {
        let file = try FileDescriptor(reading: folder.write([3], to: "file"))
        switch number {
        case 0: break
        case 1: try supervisor.send(HelperChannel.presence, with: file)
        case 2: try supervisor.send(HelperChannel.failed, with: file)
        default: try supervisor.send(9, with: file, file)
        }
        for _ in 0..<2 {
            #expect(throws: SystemCallFailure(call: "recvmsg", number: 71)) {
                _ = try content { try channel.startPresence() }
            }
        }
        #expect(try isClosed())
    }

    /// The content of the program's connection, which is a file here; `nil` if the program was not
    /// started.
    private func content(
        _ start: () throws -> HelperChannel.Started?
    ) throws -> [UInt8]? {
        guard let program = try start() else { return nil }
        return try program.withConnection { file throws(SystemCallFailure) in
            try [UInt8](capacity: 4) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
        }
    }
}
