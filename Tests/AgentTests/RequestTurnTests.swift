import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Agent
@testable import SecretVault
@testable import VaultService

/// The memory turn of a single request.
struct RequestTurnTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A turn of user 1, which takes all available memory.
    private func turn(
        of turns: MemoryTurns, while isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws -> RequestTurn {
        #expect(try turns.begin(of: 1, size: 10, timeout: .zero))
        let size = RequestSize(frame: 1, largestFile: 1, memory: 10)
        return RequestTurn(of: 1, size, from: turns, while: isWanted)
    }

    private func isFree(_ turns: MemoryTurns) throws(SystemCallFailure) -> Bool {
        guard try turns.begin(of: 2, size: 10, timeout: .zero) else { return false }
        turns.end(of: 2, size: 10)
        return true
    }

    @Test(
        "while a request waits, others can use its memory, and afterwards it gets the memory back")
    func paused() throws {
        let turns = MemoryTurns(total: 10)
        let turn = try turn(of: turns)
        #expect(try turn.paused { () throws(SystemCallFailure) in try isFree(turns) })
        #expect(try !isFree(turns))
        turn.end()
        #expect(try isFree(turns))
        // The turn ends only once.
        #expect(try turns.begin(of: 2, size: 10, timeout: .zero))
        turn.end()
        #expect(try !turns.begin(of: 3, size: 10, timeout: .zero))
    }

    @Test("a request whose client has gone does not wait for its memory")
    func unwanted() throws {
        let turns = MemoryTurns(total: 10)
        let turn = try turn(of: turns) { false }
        try turn.paused { () throws(SystemCallFailure) in
            #expect(try turns.begin(of: 2, size: 10, timeout: .zero))
        }
        turn.end()
        #expect(try !turns.begin(of: 3, size: 10, timeout: .zero))
    }

    @Test("while a helper waits for a person or a server, others can use its request's memory")
    func programs() throws {
        let (vaults, place, unlocking) = try HeldVaults.holdingOne(in: folder)
        let pair = try SocketPair()
        let file = try FileDescriptor(reading: folder.write([3], to: "file"))
        try pair.second.send(HelperChannel.courier, with: file, file)
        let turns = MemoryTurns(total: 10)
        let context = RelayContext(
            helpers: HelperChannel(try pair.first.duplicate()), vaults: vaults, place: place,
            unlocking: unlocking, turn: try turn(of: turns))
        let isFree = try context.using { helpers throws(SystemCallFailure) in
            try helpers.startCourier()
        } otherwise: { _ in
            SystemCallFailure(call: "none", number: 1)
        } _: { _ throws(SystemCallFailure) in
            try self.isFree(turns)
        }
        #expect(isFree)
        #expect(try !self.isFree(turns))
    }

    /// An agent in this process for user 5, whose vault file has this size.
    private func service(vault size: Int) throws -> AgentServices {
        try FileManager.default.createDirectory(
            atPath: folder.file("5"), withIntermediateDirectories: false)
        try folder.write([UInt8](repeating: 0, count: size), to: "5/vault")
        return try AgentServices(
            for: .account(SystemAccount(stateFolder: folder.path, user: 5)))
    }

    /// The turn of a request, if it is available at once.
    private func turn(
        of kind: AgentRequest.Kind, size: Int = 100, in service: AgentServices
    ) throws -> RequestTurn? {
        let beginning = [AgentProtocol.version, kind.rawValue]
        do {
            return try service.beginTurn(
                for: beginning.span, size: size, usedAt: { $0 }, while: { false })
        } catch VaultError.busy {
            return nil
        }
    }

    @Test("a request about a large vault does not wait for a large request")
    func large() throws {
        let service = try service(vault: 2 << 20)
        let edit = try turn(of: .move, size: AgentProtocol.largestEdit, in: service)
        #expect(edit != nil)
        #expect(try turn(of: .move, size: AgentProtocol.largestEdit, in: service) == nil)
        let list = try turn(of: .list, in: service)
        #expect(list != nil)
        #expect(try turn(of: .list, in: service) == nil)
        list?.end()
        #expect(try turn(of: .list, in: service) != nil)
    }

    @Test("a request about a large vault waits for as long as another user's client can delay it")
    func delayed() throws {
        let service = try service(vault: 2 << 20)
        let other = try #require(
            try service.limits.large.begin(of: 6, size: 512 << 20, timeout: .zero)
                ? service.limits.large : nil)
        let end = WorkerThread {
            do {
                let delay = AgentProtocol.turnTimeout + .seconds(2)
                _ = try Polling.wait(for: [], timeout: delay)
            } catch { Issue.record(error) }
            other.end(of: 6, size: 512 << 20)
        }
        let beginning = [AgentProtocol.version, AgentRequest.Kind.list.rawValue]
        let turn = try service.beginTurn(
            for: beginning.span, size: 100, usedAt: { $0 }, while: { true })
        #expect(turn != nil)
        try #require(end).join()
    }

    @Test("at most eight requests of a user compute at a time")
    func few() throws {
        let service = try service(vault: 1000)
        let turns = try (1...9).map { _ in try turn(of: .list, in: service) }
        #expect(turns.map { $0 != nil } == [Bool](repeating: true, count: 8) + [false])
    }

    @Test("the previous generation's size counts towards a request's memory, too")
    func previous() throws {
        let service = try service(vault: 1000)
        let own = folder.file("5/.watchword/by-name/vault")
        try FileManager.default.createDirectory(
            atPath: own, withIntermediateDirectories: true)
        try folder.write(
            [UInt8](repeating: 0, count: 2 << 20), to: "5/.watchword/by-name/vault/previous")
        let check = try turn(of: .check, in: service)
        #expect(try #require(check).size.largestFile > 2 << 20)
        #expect(try turn(of: .check, in: service) == nil)
    }

    @Test("a record of uses that is too large for its vault is neither read nor moved")
    func uses() throws {
        let opener = VaultOpener.passphrase(SecretBytes(text: "pass"))
        let path = folder.file("vault")
        try Vault.create(
            at: path, passphrase: SecretBytes(text: "pass"), cost: .lowest,
            recoveryKey: nil, now: 0)
        let vault = try Vault.unlock(at: path, with: opener)
        for (count, isRead) in [(500, true), (600, false)] {
            let ids = (0..<count).map { number in
                RecordID(([UInt8](repeating: 0, count: 12) + UInt32(number).littleEndianBytes).span)
            }
            var uses = LastUses()
            uses.add(ids.map { RecordedUse(of: $0, at: 1) }) { _ in true }
            let file = try uses.sealed(under: vault.key)
            vault.location.write(uses: file, of: vault.key.vaultID)
            #expect(vault.lastUses.isEmpty != isRead)
            let packed = try Vault.pack(path)
            #expect(packed.uses.isEmpty != isRead)
            // The frame that a client sends.
            let frame = try FrameWriter()
            frame.append(
                VaultParcel(
                    document: packed.document, attempts: packed.attempts, uses: file,
                    presented: packed.presented, newest: packed.newest, deviceKeys: []))
            let moved = try frame.withContent { try VaultParcel(parsing: $0) }
            #expect(moved.uses.isEmpty != isRead)
        }
    }

    @Test("only a few requests of each user may wait for a person or a server, and no large ones")
    func asking() throws {
        var service = try service(vault: 1000)
        /// Whether this many requests like the current one may wait at the same time.
        func mayWait(_ count: Int) throws -> Bool {
            let response = try service.asking {
                try count == 1 || mayWait(count - 1) ? .done : .notHeld
            }
            return if case .done = response { true } else { false }
        }
        service.turn = try turn(of: .list, in: service)
        #expect(try mayWait(4))
        #expect(try !mayWait(5))
        service.turn?.end()
        service.turn = try turn(of: .move, size: 1 << 20, in: service)
        #expect(try mayWait(1))
        service.turn?.end()
        service.turn = try turn(of: .move, size: 4 << 20, in: service)
        #expect(try !mayWait(1))
    }
}
