import Foundation
import OneTimePassword
import SecretVault
import Synchronization
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// The times for which vaults are held, with clocks that the test sets.
struct HeldVaultsTests {
    /// Two clocks that only the test advances.
    final class Clocks: Sendable {
        private let time = Mutex(
            AgentClock(sinceBoot: .seconds(1_000), awake: .seconds(900)))

        var now: AgentClock { time.withLock { $0 } }

        func pass(_ awake: Duration, suspended: Duration = .zero) {
            time.withLock { time in
                time = AgentClock(
                    sinceBoot: time.sinceBoot + awake + suspended, awake: time.awake + awake)
            }
        }
    }

    private let folder: TemporaryFolder
    let clocks = Clocks()
    let vaults: HeldVaults
    let place: VaultPlace
    let passphrase = SecretBytes(copying: Array("pass".utf8).span)

    init() throws {
        folder = try TemporaryFolder()
        vaults = HeldVaults { [clocks] in clocks.now }
        try Vault.create(
            at: folder.file("vault"), passphrase: passphrase, cost: .lowest,
            recoveryKey: nil, now: 0)
        place = try VaultPlace(at: folder.file("vault"))
    }

    private func open() throws -> UnlockedVault {
        try Vault.unlock(at: place.path, with: .passphrase(passphrase))
    }

    func hold(idle: Int64 = 900, total: Int64 = 28_800) throws {
        let unlocking = vaults.beginUnlocking(place)
        let time = HoldingTime(idle: .seconds(idle), total: .seconds(total))
        #expect(vaults.hold(HeldVault(try open()), for: time, unlocking))
    }

    private var isHeld: Bool { !vaults.status().isEmpty }

    @Test("a vault whose file is missing is locked, even if the file returns")
    func missing() throws {
        try hold()
        let path = folder.file("vault")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        #expect(throws: VaultError.notFound) { _ = try vaults.use(place) }
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(throws: RequestRefusal.self) { _ = try vaults.use(place) }
        #expect(!isHeld)
    }

    @Test("a vault is locked when it has not been used for the idle time, and not before")
    func idle() throws {
        try hold()
        clocks.pass(.seconds(899))
        #expect(isHeld)
        clocks.pass(.seconds(1))
        #expect(!isHeld)
        #expect(throws: RequestRefusal.self) { try vaults.use(place) }
    }

    @Test("a use restarts the idle time; reading the status or the file does not")
    func uses() throws {
        try hold()
        clocks.pass(.seconds(600))
        vaults.countUse(of: place, try vaults.use(place).unlocking)
        clocks.pass(.seconds(600))
        #expect(vaults.status().map(\.idle) == [.seconds(300)])
        _ = try vaults.use(place)
        clocks.pass(.seconds(299))
        #expect(isHeld)
        clocks.pass(.seconds(1))
        #expect(!isHeld)
    }

    @Test("the total time is never extended")
    func total() throws {
        try hold(idle: 900, total: 1_000)
        clocks.pass(.seconds(800))
        vaults.countUse(of: place, try vaults.use(place).unlocking)
        clocks.pass(.seconds(199))
        #expect(isHeld)
        clocks.pass(.seconds(1))
        #expect(!isHeld)
    }

    @Test("a suspend locks every vault; small differences between the two clocks do not")
    func suspend() throws {
        try hold()
        clocks.pass(.seconds(10), suspended: .milliseconds(900))
        #expect(isHeld)
        clocks.pass(.seconds(10), suspended: .milliseconds(900))
        #expect(isHeld)
        clocks.pass(.seconds(1), suspended: .seconds(2))
        #expect(!isHeld)
        try hold()
        #expect(isHeld)
    }

    @Test("every event that locks a vault ends the waiting requests that use it, and no others")
    func waits() throws {
        let (vaults, place, clocks) = (vaults, place, clocks)
        let locks: [() -> Void] = [
            { vaults.lock(place) }, { vaults.lockAll() }, { vaults.lockAll(in: place.folder) },
            {
                clocks.pass(.seconds(900))
                _ = vaults.dropExpired()
            },
            {
                // The total time is over.
                clocks.pass(.seconds(800))
                for number: UInt64 in 0..<9 { vaults.countUse(of: place, number) }
                clocks.pass(.seconds(200))
                _ = vaults.dropExpired()
            },
            {
                clocks.pass(.seconds(1), suspended: .seconds(2))
                _ = vaults.dropExpired()
            },
            { vaults.close() },
        ]
        for lock in locks {
            try hold(total: 1_000)
            let unlocking = try vaults.use(place).unlocking
            let pair = try SocketPair()
            func isEnded() throws -> Bool {
                try Polling.ready(of: [.reading(pair.second)], timeout: .zero)[0]
            }
            let connection = SharedDescriptor(try pair.first.duplicate())
            let states = try vaults.waiting(for: connection, in: place, unlocking) {
                () throws -> [Bool] in
                _ = vaults.lock(place.only(for: 1))
                let before = try isEnded()
                lock()
                return [before, try isEnded()]
            }
            #expect(states == [false, true])
            #expect(vaults.waiting(for: connection, in: place, unlocking) { true } == nil)
        }
    }

    @Test("a vault that is locked while it is being opened is not held")
    func lockedMeanwhile() throws {
        let (vaults, place, clocks) = (vaults, place, clocks)
        let locks: [() -> Void] = [
            { #expect(vaults.lock(place)) },
            { vaults.lockAll() },
            { #expect(vaults.lockAll(in: place.folder)) },
            { clocks.pass(.seconds(1), suspended: .seconds(2)) },
        ]
        for lock in locks {
            let unlocking = vaults.beginUnlocking(place)
            lock()
            #expect(!vaults.hold(HeldVault(try open()), for: .standard, unlocking))
            #expect(!isHeld)
        }
        // Requests for another unlocking, another folder or a single connection have no effect.
        let unlocking = vaults.beginUnlocking(place)
        vaults.endUnlocking(vaults.beginUnlocking(place))
        vaults.lock(place, since: unlocking + 1)
        vaults.lock(place.only(for: 7))
        vaults.lockAll(in: try FolderIdentity(at: "/"))
        #expect(vaults.hold(HeldVault(try open()), for: .standard, unlocking))
        #expect(isHeld)
        #expect(!vaults.hold(HeldVault(try open()), for: .standard, unlocking))
    }

    @Test("an agent that is ending holds no vault, not even a vault that was being opened")
    func closed() throws {
        try hold()
        let unlocking = vaults.beginUnlocking(place)
        vaults.close()
        #expect(!isHeld)
        #expect(!vaults.hold(HeldVault(try open()), for: .standard, unlocking))
        #expect(
            !vaults.hold(HeldVault(try open()), for: .standard, vaults.beginUnlocking(place)))
        #expect(!isHeld)
    }

    @Test("the time until the next lock is returned")
    func next() throws {
        #expect(vaults.dropExpired() == nil)
        try hold(idle: 60, total: 90)
        #expect(vaults.dropExpired() == .seconds(60))
        clocks.pass(.seconds(45))
        vaults.countUse(of: place, try vaults.use(place).unlocking)
        #expect(vaults.dropExpired() == .seconds(45))
        clocks.pass(.seconds(45))
        #expect(vaults.dropExpired() == nil)
    }

    @Test("after a vault is unlocked again, uses from the earlier unlocking are ignored")
    func unlockings() throws {
        try hold()
        let first = try vaults.use(place).unlocking
        clocks.pass(.seconds(800))
        try hold()
        let second = try vaults.use(place).unlocking
        clocks.pass(.seconds(100))
        vaults.countUse(of: place, first)
        #expect(vaults.status().map(\.idle) == [.seconds(800)])
        #expect(vaults.isHeld(place, second))
        #expect(!vaults.isHeld(place, first))
        #expect(vaults.vault(at: place, since: first) == nil)
        #expect(vaults.vault(at: place, since: second) != nil)
    }

    @Test("holding a vault wakes the thread that locks it")
    func wake() throws {
        let source = clocks
        let waking = Calls()
        let vaults = HeldVaults(clock: { source.now }, wake: waking.add)
        #expect(vaults.hold(HeldVault(try open()), for: .standard, vaults.beginUnlocking(place)))
        #expect(waking.count == 1)
    }

    private final class Calls: Sendable {
        private let calls = Mutex(0)
        var count: Int { calls.withLock { $0 } }
        func add() { calls.withLock { $0 += 1 } }
    }

    @Test("a credential that a client shows is erased after the idle time, and by a lock")
    func shown() throws {
        let credential = try Credential(
            issuer: "", account: "a", key: passphrase)
        try hold(idle: 60)
        let unlocking = try vaults.use(place).unlocking
        let first = try #require(vaults.keep(credential, of: place, unlocking))
        #expect(vaults.shownCredential(first, of: place) != nil)
        clocks.pass(.seconds(59))
        vaults.countUse(of: place, unlocking)
        #expect(vaults.dropExpired() == .seconds(1))
        clocks.pass(.seconds(1))
        #expect(vaults.shownCredential(first, of: place) == nil)
        let second = try #require(vaults.keep(credential, of: place, unlocking))
        vaults.lockAll()
        #expect(vaults.shownCredential(second, of: place) == nil)
        #expect(vaults.keep(credential, of: place, unlocking) == nil)
        try hold()
        #expect(vaults.shownCredential(second, of: place) == nil)
    }

    private func entry(_ seconds: Int, _ presence: AccessControl.Presence = .perUse(.any)) throws
        -> EntrySummary
    {
        let reuse = try #require(ReuseTime(seconds))
        let credential = try Credential(issuer: "", account: "\(seconds)", key: passphrase)
        let vault = try open()
        let id = try vault.update { changes throws(VaultError) in
            try changes.add(
                .oneTimePassword(credential),
                accessControl: AccessControl(
                    presence: presence, onFailure: .lockOut, reuse: reuse),
                now: 1)
        }
        return try vault.entry(id)
    }

    @Test(
        "a check stays valid for the entry's reuse time, measured on the boot clock",
        arguments: [1, 60, 300])
    func reuse(seconds: Int) throws {
        let (entry, other) = (try entry(seconds), try entry(300))
        try hold()
        let unlocking = try vaults.use(place).unlocking
        func counts(_ entry: EntrySummary) -> Bool {
            vaults.reusableCheck(for: entry, in: place, unlocking) == .advisory
        }
        #expect(!counts(entry))
        vaults.recordCheck(of: entry, .advisory, in: place, unlocking)
        #expect(counts(entry))
        #expect(!counts(other))
        clocks.pass(.seconds(seconds - 1))
        #expect(counts(entry))
        clocks.pass(.milliseconds(999))
        #expect(counts(entry))
        clocks.pass(.milliseconds(1))
        #expect(!counts(entry))
        clocks.pass(.seconds(1))
        #expect(!counts(entry))
        // A clock that goes backwards does not prove how much time has passed.
        vaults.recordCheck(of: entry, .advisory, in: place, unlocking)
        clocks.pass(.seconds(-1))
        #expect(!counts(entry))
    }

    @Test("a check does not count again after a lock, a suspend or a change of the entry")
    func reuseEnds() throws {
        let entry = try entry(300)
        try hold()
        let unlocking = try vaults.use(place).unlocking
        vaults.recordCheck(of: entry, .advisory, in: place, unlocking)
        #expect(vaults.reusableCheck(for: entry, in: place, unlocking) == .advisory)
        let vault = try open()
        try vault.update { changes throws(VaultError) in
            try changes.rename(entry.id, issuer: "", account: "new", now: 2)
        }
        let renamed = try vault.entry(entry.id)
        #expect(vaults.reusableCheck(for: renamed, in: place, unlocking) == nil)
        try vault.update { changes throws(VaultError) in
            try changes.setAccessControl(
                of: entry.id,
                to: AccessControl(
                    presence: .perUse(.pam), onFailure: .lockOut, reuse: renamed.accessControl.reuse
                ), now: 2)
        }
        vaults.recordCheck(of: renamed, .advisory, in: place, unlocking)
        #expect(
            vaults.reusableCheck(for: try vault.entry(entry.id), in: place, unlocking) == nil)
        // Locking and unlocking, or a suspend.
        #expect(vaults.reusableCheck(for: renamed, in: place, unlocking) == .advisory)
        vaults.lock(place)
        try hold()
        let again = try vaults.use(place).unlocking
        #expect(vaults.reusableCheck(for: renamed, in: place, unlocking) == nil)
        #expect(vaults.reusableCheck(for: renamed, in: place, again) == nil)
        vaults.recordCheck(of: renamed, .advisory, in: place, unlocking)
        #expect(vaults.reusableCheck(for: renamed, in: place, again) == nil)
        vaults.recordCheck(of: renamed, .advisory, in: place, again)
        clocks.pass(.seconds(1), suspended: .seconds(2))
        #expect(vaults.reusableCheck(for: renamed, in: place, again) == nil)
    }

    @Test("an entry without a reuse time requires each check")
    func noReuse() throws {
        let entry = try entry(0)
        try hold()
        let unlocking = try vaults.use(place).unlocking
        vaults.recordCheck(of: entry, .advisory, in: place, unlocking)
        #expect(vaults.reusableCheck(for: entry, in: place, unlocking) == nil)
    }

    @Test("the agent keeps the state that a request saved, and no older state replaces it")
    func learning() throws {
        try hold()
        let credential = try Credential(issuer: "", account: "a", key: passphrase)
        let (older, newer) = (try vaults.use(place), try vaults.use(place))
        let (before, stamp) = (try folder.bytes(of: "vault"), FileStamp(of: place.path))
        try newer.vault.update { changes throws(VaultError) in
            try changes.add(
                .oneTimePassword(credential), details: EntryDetails(),
                accessControl: AccessControl(presence: .perUnlock, onFailure: .lockOut), now: 1)
        }
        for use in [newer, older] { vaults.learn(from: use, of: place) }
        // Another request read the file before that change.
        vaults.keep(HeldVault(older.vault), stamp, of: place, older.unlocking)
        // An attacker restores the file and the record of its generation.
        try folder.write(before, to: "vault")
        try FileManager.default.removeItem(atPath: folder.file(".watchword"))
        #expect(throws: RequestRefusal.self) { try vaults.use(place) }
        #expect(!isHeld)
    }
}
