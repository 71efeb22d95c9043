import Foundation
import TestSupport
import Testing
import WatchwordSystem

struct LocalSocketTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.file("s") }

    /// Both ends of a connection.
    private func connected() throws -> (FrameConnection, FrameConnection) {
        let listener = try LocalSocket.listen(at: path)
        let client = FrameConnection(try LocalSocket.connect(to: path))
        return (client, FrameConnection(try LocalSocket.accept(from: listener)))
    }

    private func frame(_ bytes: [UInt8]) throws -> FrameWriter {
        let frame = try FrameWriter()
        for byte in bytes { frame.append(byte) }
        return frame
    }

    private func receive(
        from connection: FrameConnection, limit: Int = 8, idleTime: Duration = .seconds(10),
        timeout: Duration = .seconds(10)
    ) throws -> String {
        switch try connection.receive(limit: limit, idleTime: idleTime, timeout: timeout) {
        case .frame(let frame):
            frame.withBytes { bytes in "\(bytes.indices.map { index in bytes[index] })" }
        case .ended: "ended"
        case .malformed: "malformed"
        case .timedOut: "timed out"
        }
    }

    @Test("frames arrive in both directions, and the end of a connection is detected")
    func frames() throws {
        let (client, server) = try connected()
        #expect(try client.send(frame([1, 2]), timeout: .seconds(10)))
        #expect(try client.send(frame([3]), timeout: .seconds(10)))
        #expect(try receive(from: server) == "[1, 2]")
        #expect(try receive(from: server) == "[3]")
        #expect(try server.send(frame([4]), timeout: .seconds(10)))
        #expect(try receive(from: client) == "[4]")
        client.shutDown()
        #expect(try receive(from: server) == "ended")
        #expect(try server.send(frame([5]), timeout: .seconds(10)) == false)
    }

    @Test("the other process is identified by the kernel")
    func peer() throws {
        let (client, server) = try connected()
        for end in [client, server] {
            let peer = try end.peer()
            #expect(peer.process == getpid())
            #expect(peer.user == geteuid())
            #expect(peer.isThisUser)
        }
    }

    @Test("a frame over the limit is malformed, and one of exactly that size is not")
    func limit() throws {
        let (client, server) = try connected()
        #expect(try client.send(frame([1, 2, 3]), timeout: .seconds(10)))
        #expect(try receive(from: server, limit: 3) == "[1, 2, 3]")
        #expect(try client.send(frame([1, 2, 3]), timeout: .seconds(10)))
        #expect(try receive(from: server, limit: 2) == "malformed")
    }

    @Test("a client that is silent, or stops within a frame, does not keep the other side waiting")
    func deadlines() throws {
        let (client, server) = try connected()
        #expect(try receive(from: server, idleTime: .milliseconds(20)) == "timed out")
        client.shutDown()
        #expect(try receive(from: server) == "ended")
        let listener = try LocalSocket.listen(at: folder.file("t"))
        let raw = try LocalSocket.connect(to: folder.file("t"))
        let other = FrameConnection(try LocalSocket.accept(from: listener))
        // A length of four, and one byte.
        try raw.writeAll([4, 0, 0, 0, 9].span)
        #expect(try receive(from: other, timeout: .milliseconds(20)) == "timed out")
    }

    @Test("a reader that does not read does not keep the sender waiting")
    func fullBuffer() throws {
        let (client, server) = try connected()
        let large = try frame([UInt8](repeating: 1, count: 1 << 20))
        #expect(try client.send(large, timeout: .milliseconds(20)) == false)
        // The server was there all the time.
        #expect(try receive(from: server, limit: 1 << 20, timeout: .zero) == "timed out")
    }

    @Test("a socket has mode 0600, and nothing that exists is replaced, not even a broken link")
    func listening() throws {
        let listener = try LocalSocket.listen(at: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let taken = SystemCallFailure(call: "bind", number: EADDRINUSE)
        #expect(throws: taken) { _ = try LocalSocket.listen(at: path) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("nowhere"))
        #expect(throws: taken) { _ = try LocalSocket.listen(at: folder.file("link")) }
        #expect(!FileManager.default.fileExists(atPath: folder.file("nowhere")))
        #expect(throws: SystemCallFailure(call: "bind", number: ENAMETOOLONG)) {
            _ = try LocalSocket.listen(
                at: folder.file(String(repeating: "x", count: 108)))
        }
        withExtendedLifetime(listener) {}
    }

    @Test("a socket can be open to everybody, whatever the umask")
    func mode() throws {
        let listener = try LocalSocket.listen(at: path, mode: 0o666)
        #expect(try TestSupport.mode(of: path) == 0o666)
        withExtendedLifetime(listener) {}
    }

    @Test("only a socket on which nobody listens is removed as abandoned")
    func abandoned() throws {
        do {
            let listener = try LocalSocket.listen(at: path)
            #expect(try !LocalSocket.removeAbandoned(at: path))
            withExtendedLifetime(listener) {}
        }
        try linkSymbolically(path, to: folder.file("link"))
        try folder.write([1], to: "file")
        for name in ["link", "file"] {
            #expect(try !LocalSocket.removeAbandoned(at: folder.file(name)))
            #expect(try names(in: folder.path).contains(name))
        }
        #expect(try LocalSocket.removeAbandoned(at: path))
        #expect(try names(in: folder.path).sorted() == ["file", "link"])
        #expect(throws: SystemCallFailure(call: "lstat", number: ENOENT)) {
            _ = try LocalSocket.removeAbandoned(at: path)
        }
    }

    @Test("the user ID that stands for users of other namespaces is known")
    func overflow() { #expect(UserDatabase.overflowUsers().contains(65_534)) }

    @Test("this process's user is found, and a user that does not exist is not")
    func account() async {
        #expect(await UserDatabase.findName(of: geteuid()) == UserDatabase.name(of: geteuid()))
        #expect(await UserDatabase.findName(of: 4_294_967_000) == nil)
    }

    @Test("a failed connection attempt reports that nobody listens")
    func nobody() throws {
        do {
            _ = try LocalSocket.connect(to: path)
            Issue.record("connected")
        } catch {
            #expect(error.isNobodyListening)
        }
        _ = try LocalSocket.listen(at: path)
        do {
            _ = try LocalSocket.connect(to: path)
            Issue.record("connected")
        } catch {
            #expect(error.isNobodyListening)
        }
    }

    @Test("an open file is passed with a byte, and a byte can be passed without a file")
    func descriptors() throws {
        let pair = try SocketPair()
        let file = try FileDescriptor(reading: folder.write([7], to: "file"))
        try pair.first.send(3, with: file)
        try pair.first.send(4)
        guard let first = try pair.second.receiveFile(), let second = try pair.second.receiveFile()
        else {
            Issue.record("nothing was received")
            return
        }
        #expect([first.byte, second.byte] == [3, 4])
        guard let received = first.takeFile() else {
            Issue.record("no file was received")
            return
        }
        let content = try [UInt8](capacity: 4) { try received.readToEnd(into: &$0) }
        #expect(content == [7])
        if second.takeFile() != nil { Issue.record("a file came with the second byte") }
        let other = try FileDescriptor(reading: folder.write([8], to: "other"))
        try pair.first.send(5, with: file, other)
        guard let both = try pair.second.receiveFile()?.takeFiles() else {
            Issue.record("two files were not received")
            return
        }
        let last = try [UInt8](capacity: 4) { try both.second.readToEnd(into: &$0) }
        #expect(last == [8])
    }

    @Test("a datagram arrives whole at a path or at an abstract name, and nowhere else")
    func datagrams() throws {
        let name = "watchword-\(UUID().uuidString)"
        let sockets = [
            (try DatagramSocket(at: path), path),
            (try DatagramSocket(at: name, isAbstract: true), "@" + name),
        ]
        for (socket, path) in sockets {
            for message in [Array("READY=1".utf8), [UInt8](repeating: 0x0A, count: 9_000)] {
                try LocalSocket.send(message.span, to: path)
                #expect(socket.receive() == message)
            }
        }
        let byte: [UInt8] = [1]
        for missing in [folder.file("none"), "@" + name + "x"] {
            #expect(throws: SystemCallFailure.self) {
                try LocalSocket.send(byte.span, to: missing)
            }
        }
        // Only datagrams may use such names, which any process can take.
        #expect(throws: SystemCallFailure.self) {
            _ = try LocalSocket.connect(to: "@" + name, timeout: .zero)
        }
    }
}
