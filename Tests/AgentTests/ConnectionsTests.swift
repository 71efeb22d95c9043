import Foundation
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordSystem

@testable import Agent

/// A class that allows the client's end of a connection in a collection.
final class Peer {
    private let file: FileDescriptor
    init(_ file: consuming FileDescriptor) { self.file = file }
    var end: Polling.Interest { .reading(file) }
}

/// Tests of which connections of clients are kept and which are ended.
@Suite(.serialized)
struct ConnectionsTests {
    @Test("a crowd of connections of one process does not displace those of another process")
    func eviction() throws {
        let connections = Connections(limit: Connections.limitPerUser)
        var peers: [Peer] = []
        func connect(from process: Int32, asks: Bool) throws {
            let pair = try SocketPair()
            peers.append(Peer(try pair.second.duplicate()))
            let number = connections.add(
                FrameConnection(pair.takeFirst()),
                from: LocalSocket.Peer(user: 1, process: process))
            if asks, let number {
                connections.set(number, .none)
            }
        }
        func ended() throws -> [Int] {
            let ready = try Polling.ready(of: peers.map(\.end), timeout: .zero)
            return peers.indices.filter { ready[$0] }
        }
        try connect(from: 1, asks: true)
        for number in 1..<Connections.limitPerUser { try connect(from: 2, asks: number != 5) }
        try connect(from: 3, asks: true)
        #expect(try ended() == [5])
        try connect(from: 3, asks: true)
        #expect(try ended() == [1, 5])
        withExtendedLifetime(peers) {}
    }

    @Test("if a user has too many connections, only connections of that user are closed")
    func evictionOfUser() throws {
        let connections = Connections(limit: 1000)
        var peers: [Peer] = []
        for number in 0...(Connections.limitPerUser + 5) {
            let pair = try SocketPair()
            peers.append(Peer(try pair.second.duplicate()))
            // The first client belongs to another user, and has been silent longest.
            let peer = LocalSocket.Peer(user: number == 0 ? 1 : 2, process: Int32(number))
            let added = connections.add(FrameConnection(pair.takeFirst()), from: peer)
            #expect(added != nil)
        }
        let ready = try Polling.ready(of: peers.map(\.end), timeout: .zero)
        #expect(peers.indices.filter { ready[$0] } == [1, 2, 3, 4, 5])
    }

    @Test("while threads of ended connections are still running, a user may only lock the vault")
    func threads() throws {
        let connections = Connections(limit: 1000)
        func connect(_ user: UInt32) throws -> UInt64? {
            connections.add(
                FrameConnection(try SocketPair().takeFirst()),
                from: LocalSocket.Peer(user: user, process: 1))
        }
        let first = try #require(try connect(1))
        for _ in 2...(2 * Connections.limitPerUser) { #expect(try connect(1) != nil) }
        #expect(!connections.contains(first))
        for _ in 1...Connections.limitPerUser {
            #expect(connections.isReserved(try #require(try connect(1))))
        }
        #expect(try connect(1) == nil)
        #expect(try connect(2) != nil)
        connections.remove(first)
        #expect(!connections.isReserved(try #require(try connect(1))))
    }

    @Test("while all connections wait for responses, each user has a few more to lock the vault")
    func reserved() throws {
        let connections = Connections(limit: 66)
        var peers: [Peer] = []
        func connect(_ user: UInt32, process: Int32 = 1) throws -> UInt64 {
            let pair = try SocketPair()
            peers.append(Peer(try pair.second.duplicate()))
            let added = connections.add(
                FrameConnection(pair.takeFirst()),
                from: LocalSocket.Peer(user: user, process: process))
            let number = try #require(added)
            connections.set(number, .handling)
            return number
        }
        let first = try connect(1)
        for _ in 2...Connections.limitPerUser {
            #expect(!connections.isReserved(try connect(1)))
        }
        // Among the reserved connections, the oldest of the process with the most connections makes
        // room.
        let other = try connect(1, process: 2)
        let own = try (1...5).map { _ in try connect(1) }
        #expect(connections.contains(other) && connections.isReserved(other))
        #expect(own.map(connections.contains) == [false, false, true, true, true])
        // The connection of a client that does not read its response also makes room.
        connections.set(first, .sending)
        #expect(!connections.isReserved(try connect(1)))
        #expect(!connections.contains(first))
        // Another user is not affected until all connections are used.
        for isReserved in [false, false, true] {
            #expect(connections.isReserved(try connect(2)) == isReserved)
        }
        withExtendedLifetime(peers) {}
    }

    @Test("a connection makes room as soon as its client has a response to read")
    func unread() throws {
        let connections = Connections(limit: 1)
        let peer = LocalSocket.Peer(user: 1, process: 1)
        let pair = try SocketPair()
        try pair.second.writeAll(([2, 0, 0, 0, AgentProtocol.version, 3] as [UInt8]).span)
        // Otherwise, a connection that makes no room would wait forever.
        shutdown(pair.second.number, Int32(SHUT_WR))
        let client = Peer(try pair.second.duplicate())
        let connection = FrameConnection(pair.takeFirst())
        let number = try #require(connections.add(connection, from: peer))
        var member = connections.member(number)
        member.setActivity = { activity in
            connections.set(number, activity)
            guard activity == .sending else { return }
            do {
                let other = FrameConnection(try SocketPair().takeFirst())
                #expect(connections.add(other, from: peer).map(connections.isReserved) == false)
            } catch {
                Issue.record(error)
            }
        }
        ClientConnection(connection, member, try AgentServices(for: .folders([]))).serve()
        #expect(!connections.contains(number))
        withExtendedLifetime(client) {}
    }

    @Test(
        "without a free thread, a request to lock is answered if all of it has arrived",
        arguments: [
            ([2, 0, 0, 0, 99, 2], "done"), ([2, 0, 0, 0, 99, 5], "tooManyClients"),
            ([2, 0, 0, 0, 99], "tooManyClients"), ([], "tooManyClients"),
        ] as [([UInt8], String)])
    func atOnce(request: [UInt8], answer: String) throws {
        let pair = try SocketPair()
        #expect(fcntl(pair.first.number, F_SETFL, O_NONBLOCK) == 0)
        try pair.second.writeAll(request.span)
        let client = FrameConnection(try pair.second.duplicate())
        let connection = FrameConnection(pair.takeFirst())
        #expect(connection.hasReceived == !request.isEmpty)
        KeyHolder.answerAtOnce(connection, try AgentServices(for: .folders([])))
        let received = try client.receive(limit: 100, idleTime: .zero, timeout: .zero)
        guard case .frame(let frame) = received else {
            Issue.record("\(received)")
            return
        }
        #expect(try frame.withBytes { "\(try AgentResponse(parsing: $0))" } == answer)
    }

    @Test(
        "one request to lock that was sent before the connection was ended is answered",
        arguments: [(false, 3, true), (true, 3, true), (false, 5, false)] as [(Bool, UInt8, Bool)])
    func ended(isReserved: Bool, kind: UInt8, isFirstAnswered: Bool) throws {
        let pair = try SocketPair()
        let request = [2, 0, 0, 0, AgentProtocol.version, kind] as [UInt8]
        try pair.second.writeAll((request + request).span)
        let client = FrameConnection(try pair.second.duplicate())
        let connection = FrameConnection(pair.takeFirst())
        connection.shutDown(onlyReading: true)
        let member = Connections.Member(number: 1, isReserved: isReserved, isWanted: { false })
        ClientConnection(connection, member, try AgentServices(for: .folders([]))).serve()
        for isAnswered in [isFirstAnswered, false] {
            let received = try client.receive(limit: 100, idleTime: .zero, timeout: .zero)
            if case .frame = received {
                #expect(isAnswered)
            } else {
                #expect(!isAnswered)
            }
        }
    }
}
