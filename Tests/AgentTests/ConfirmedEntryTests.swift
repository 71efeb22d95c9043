import Courier
import DeviceLogin
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent

/// What a presence check for the next change of an entry allows.
struct ConfirmedEntryTests {
    private static let name = EntryName(issuer: "Mill", account: "ann")

    private let folder: TemporaryFolder
    private let place: VaultPlace
    private let service: AgentServices
    private let person: RemotePerson

    /// An agent in this process that holds a vault with an enrolled secret, which is per-use.
    init() throws {
        folder = try TemporaryFolder()
        let passphrase = SecretBytes(text: "pass")
        try Vault.create(
            at: folder.file("vault"), passphrase: passphrase, cost: ScryptCost(logN: 10),
            recoveryKey: nil, now: 0)
        let vault = try Vault.unlock(at: folder.file("vault"), with: .passphrase(passphrase))
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        try vault.update { changes throws(VaultError) in
            try changes.add(
                .enrolledSecret(
                    issuer: Self.name.issuer, account: Self.name.account,
                    value: SecretBytes(text: "x")), accessControl: access, now: 0)
        }
        place = try VaultPlace(at: folder.file("vault"))
        let vaults = HeldVaults(clock: AgentClock.now)
        #expect(vaults.hold(HeldVault(vault), for: .standard, vaults.beginUnlocking(place)))
        service = AgentServices(
            vaults: vaults, reach: .folders([place.folder]), limitsFiles: false,
            helpers: HelperChannel(try SocketPair().takeFirst()), stop: try WakeSignal())
        person = RemotePerson(FrameConnection(try SocketPair().takeFirst()))
    }

    private func confirmed(
        in use: HeldVaults.Use, since unlocking: UInt64, until end: Moment = .now + .seconds(60)
    ) throws -> [ConfirmedEntry] {
        let entry = try #require(use.vault.entries.first)
        return [
            ConfirmedEntry(entry, in: place, since: unlocking, .cryptographic, until: end)
        ]
    }

    @Test("a check counts for one edit, for five minutes, and not after the vault was locked")
    func edits() throws {
        let use = try service.vaults.use(place)
        let entry = try #require(use.vault.entries.first)
        let weaker = VaultEdit.revise(
            EntryRevision(
                of: entry, issuer: nil, account: nil, details: DetailsChange(),
                codes: CodeChange(algorithm: nil, length: nil, period: nil, counter: nil),
                access: AccessControlChange(presence: .perUnlock, onFailure: nil)))
        for var earlier in [
            try confirmed(in: use, since: use.unlocking + 1),
            try confirmed(in: use, since: use.unlocking, until: .now),
        ] {
            do {
                _ = try service.edit(weaker, in: use, place, .none, person, &earlier, [])
                Issue.record("changed without a check")
            } catch {
                guard case .vault(.presenceNeeded) = error else { throw error }
            }
        }
        var current = try confirmed(in: use, since: use.unlocking)
        _ = try service.edit(weaker, in: use, place, .none, person, &current, [])
        #expect(current.isEmpty)
        #expect(try use.vault.entry(entry.id).accessControl.presence == .perUnlock)
    }

    @Test("a check counts for one enrolment, and not after the vault was locked")
    func enrolments() throws {
        let use = try service.vaults.use(place)
        let order = EnrolmentOrder(
            ticket: SecretBytes(text: "wwt_1"),
            server: try ServerAddress(parsing: "https://login.example"), authorities: [],
            deviceName: "", name: Self.name,
            access: AccessControlChange(presence: nil, onFailure: nil))
        func needsCheck(_ confirmed: inout [ConfirmedEntry]) throws -> Bool {
            let answer = try service.answer(
                to: .enrol(order), in: use, place, .none, person, &confirmed)
            guard case .failed(let error) = answer else { return false }
            return error == .vault(.presenceNeeded)
        }
        var earlier = try confirmed(in: use, since: use.unlocking + 1)
        #expect(try needsCheck(&earlier))
        var expired = try confirmed(in: use, since: use.unlocking, until: .now)
        #expect(try needsCheck(&expired))
        // There is no program that could send the ticket.
        var current = try confirmed(in: use, since: use.unlocking)
        #expect(try !needsCheck(&current))
        #expect(current.isEmpty)
    }

    @Test("what an edit would do is not told after the vault was locked")
    func rehearsed() throws {
        let use = try service.vaults.use(place)
        let edit = VaultEdit.importing(ImportEdit([], DuplicateChoices(.skip)))
        guard case .edited = try service.rehearse(edit, in: use, place) else {
            Issue.record("no outcome")
            return
        }
        service.vaults.lock(place)
        do {
            _ = try service.rehearse(edit, in: use, place)
            Issue.record("told after the lock")
        } catch {
            guard case .notHeld = error else { throw error }
        }
    }

    @Test("an entry that changes without a check is not kept for the next edit")
    func unchecked() throws {
        let use = try service.vaults.use(place)
        let id = try use.vault.update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "", account: "a", value: SecretBytes(text: "x")),
                accessControl: AccessControl(presence: .perUnlock, onFailure: .lockOut), now: 0)
        }
        var confirmed: [ConfirmedEntry] = []
        _ = try service.confirm(id, in: use, place, .none, person, &confirmed)
        #expect(confirmed.isEmpty)
    }
}
