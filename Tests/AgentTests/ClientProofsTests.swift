import Devices
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography

@testable import Agent
@testable import Courier
@testable import DeviceLogin
@testable import WatchwordSystem

/// The uses of a presence check for the next change of an entry, and of a further proof that the
/// client can open the vault.
struct ClientProofsTests {
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
            at: folder.file("vault"), passphrase: passphrase, cost: .lowest,
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
        service = try AgentServices(holding: vaults, for: .folders([place.folder]))
        person = RemotePerson(FrameConnection(try SocketPair().takeFirst()))
    }

    /// A request from a client that has passed the entry's check.
    private func request(
        in use: HeldVaults.Use, since unlocking: UInt64, until end: Moment = .now + .seconds(60)
    ) throws -> HeldRequest {
        let entry = try #require(use.vault.entries.first)
        let other = HeldVaults.Use(vault: use.vault, unlocking: unlocking)
        let request = request(in: use)
        request.proofs.confirmed = [
            (
                ConfirmedEntry(entry, .cryptographic),
                ClientProof(for: other, of: place, until: end)
            )
        ]
        return request
    }

    private func request(in use: HeldVaults.Use) -> HeldRequest {
        HeldRequest(
            service: service, use: use, place: place, presence: .none, person: person,
            proofs: ClientProofs())
    }

    @Test("a check counts for one edit, for five minutes, and not after the vault is locked")
    func edits() throws {
        let use = try service.vaults.use(place)
        let entry = try #require(use.vault.entries.first)
        let weaker = VaultEdit.revise(.withoutChecks(of: entry))
        for earlier in [
            try request(in: use, since: use.unlocking + 1),
            try request(in: use, since: use.unlocking, until: .now),
        ] {
            guard
                case .failed(.presenceNeeded) = earlier.response(to: .edit(place, weaker, .none))
            else {
                Issue.record("changed without a check")
                return
            }
        }
        let current = try request(in: use, since: use.unlocking)
        guard case .edited = current.response(to: .edit(place, weaker, .none)) else {
            Issue.record("not changed")
            return
        }
        #expect(current.proofs.confirmed.isEmpty)
        #expect(try use.vault.entry(entry.id).accessControl.presence == .perUnlock)
    }

    @Test("a check counts for one enrolment, and not after the vault is locked")
    func enrolments() throws {
        let use = try service.vaults.use(place)
        let order = Enrolment(
            SecretBytes(text: "wwt_1"),
            at: TrustedServer(try #require(ServerAddress("https://login.example"))),
            deviceName: "", name: Self.name,
            access: AccessControlChange(presence: nil, onFailure: nil))
        let task = try SecretBytes(encoding: LoginRequest.enrol(order))
        func needsCheck(_ request: HeldRequest) throws -> Bool {
            guard case .login(let encoded, _) = request.response(to: .login(place, task, .none))
            else { return false }
            let answer = try encoded.withBytes { try LoginResponse(parsing: $0) }
            guard case .failed(let error) = answer else { return false }
            return error == .vault(.presenceNeeded)
        }
        #expect(try needsCheck(request(in: use, since: use.unlocking + 1)))
        #expect(try needsCheck(request(in: use, since: use.unlocking, until: .now)))
        // No program is available to send the ticket.
        let current = try request(in: use, since: use.unlocking)
        #expect(try !needsCheck(current))
        #expect(current.proofs.confirmed.isEmpty)
    }

    @Test("the effects of an edit are not revealed after the vault is locked")
    func rehearsed() throws {
        let use = try service.vaults.use(place)
        let edit = VaultEdit.importing(ImportEdit([], DuplicateChoices(.skip)))
        guard case .edited = request(in: use).response(to: .rehearse(place, edit)) else {
            Issue.record("no outcome")
            return
        }
        service.vaults.lock(place)
        guard case .notHeld = request(in: use).response(to: .rehearse(place, edit)) else {
            Issue.record("told after the lock")
            return
        }
    }

    /// Adds a device key of this server, which requires no check, to a vault.
    private func addKey(of server: ServerAddress, to vault: UnlockedVault) throws -> RecordID {
        let signer = try SoftwareSigner.make()
        let key = EnrolledKey(
            server: TrustedServer(server), credential: Token("cr_1"), changed: 0,
            point: signer.point, ticketDigest: [UInt8](repeating: 7, count: 32),
            holding: signer.holding, registration: nil)
        let access = AccessControl(presence: .perUnlock, onFailure: .lockOut)
        return try vault.update { changes throws(VaultError) in
            try changes.add(
                .enrolledSecret(issuer: "Mill", account: "bob", value: key.form()),
                accessControl: access, now: 0)
        }
    }

    @Test(
        "a device key's ticket is returned only while the vault is held", arguments: [true, false])
    func ticket(isHeld: Bool) throws {
        // The responses of the supervisor and the courier are prepared before the requests.
        let supervisor = try SocketPair()
        let courier = try SocketPair()
        try courier.first.setBlocking(false)
        try supervisor.second.send(
            HelperChannel.courier, with: courier.first.duplicate(), courier.first.duplicate())
        let accepted = HelperResponse.AcceptedSignature(
            verification: try #require(Token("vf_1")), login: SecretBytes(text: "wwl_1"),
            expiresAt: PlainText(showing: "soon"))
        try FrameWriter(ResponseFrame(.success(.signed(accepted)))).write(to: courier.second)
        // The machine is suspended after the courier has received the request.
        let asked = Polling.Interest.reading(courier.second)
        @Sendable func clock() -> AgentClock {
            let now = AgentClock.now()
            let isAsked = ifPossible(try Polling.ready(of: [asked], timeout: .zero)) == [true]
            let suspended = isAsked && !isHeld ? Duration.seconds(3600) : .zero
            return AgentClock(sinceBoot: now.sinceBoot + suspended, awake: now.awake)
        }
        let vaults = HeldVaults(clock: clock)
        let vault = try Vault.unlock(
            at: place.path, with: .passphrase(SecretBytes(text: "pass")))
        let server = try #require(ServerAddress("https://login.example"))
        let id = try addKey(of: server, to: vault)
        #expect(vaults.hold(HeldVault(vault), for: .standard, vaults.beginUnlocking(place)))
        let service = AgentServices(
            vaults: vaults, reach: self.service.reach, limitsFiles: false,
            helpers: HelperChannel(try supervisor.first.duplicate()), stop: try WakeSignal())
        let request = HeldRequest(
            service: service, use: try vaults.use(place), place: place, presence: .none,
            person: person, proofs: ClientProofs())
        let challenge = "wwx_" + String(repeating: "A", count: 43)
        let text = try #require(KeyConfirmation(parsing: "\(challenge)\n1\nPay\n"))
        let task = LoginRequest.key(.confirm(id, text, SigningOrder(for: server, in: .standard)))
        var isTold: Bool?
        switch request.response(to: .login(place, try SecretBytes(encoding: task), .none)) {
        case .login(let encoded, _):
            let answer = try encoded.withBytes { try LoginResponse(parsing: $0) }
            if case .ticket = answer { isTold = true }
        case .notHeld: isTold = false
        default: break
        }
        #expect(isTold == isHeld)
        withExtendedLifetime(supervisor) {}
        withExtendedLifetime(courier) {}
    }

    @Test("confirming an entry that needs no check records nothing for the next edit")
    func unchecked() throws {
        let use = try service.vaults.use(place)
        let id = try use.vault.update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "", account: "a", value: SecretBytes(text: "x")),
                accessControl: AccessControl(presence: .perUnlock, onFailure: .lockOut), now: 0)
        }
        let request = request(in: use)
        guard case .done = request.response(to: .confirm(place, id, .none)) else {
            Issue.record("not confirmed")
            return
        }
        #expect(request.proofs.confirmed.isEmpty)
    }

    @Test("a repeated proof counts until the next lock, and for five minutes at most")
    func proofs() throws {
        let use = try service.vaults.use(place)
        let other = HeldVaults.Use(vault: use.vault, unlocking: use.unlocking + 1)
        let request = request(in: use)
        for (use, seconds, counts) in [
            (use, 60, true), (use, 0, false), (other, 60, false),
        ] as [(HeldVaults.Use, Int, Bool)] {
            let end = Moment.now + .seconds(seconds)
            request.proofs.repeated = [ClientProof(for: use, of: place, until: end)]
            #expect(request.isProved == counts)
        }
        let opener = VaultOpener.passphrase(SecretBytes(text: "pass"))
        for _ in 0..<2 {
            let response = request.response(to: .prove(place, opener, ceiling: 20))
            #expect("\(response)" == "done")
        }
        #expect(request.proofs.repeated.count == 1)
        let rest = try #require(request.proofs.repeated.first).end.timeRemaining
        #expect(rest > .seconds(200) && rest <= .seconds(300))
    }
}
