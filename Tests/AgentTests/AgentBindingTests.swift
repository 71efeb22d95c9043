import Devices
import OneTimePassword
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Agent
@testable import VaultService

/// Entries that are bound to this device, in the agent.
@Suite(.serialized)
struct AgentBindingTests {
    /// An agent in this process that holds a vault with a bound entry; the test acts as the
    /// supervisor.
    private struct Harness {
        let folder: TemporaryFolder
        let place: VaultPlace
        private(set) var service: AgentServices
        let supervisor: FileDescriptorBox
        let secret: SecretBytes
        let person: RemotePerson
        static let passphrase = SecretBytes(text: "pass")

        /// - Parameter address: the address of the TPM with the key.
        init(isSystem: Bool = false, at address: TPMAddress = .standard) throws {
            folder = try TemporaryFolder()
            try makeFolder(folder.file("5"))
            try setMode(0o700, of: folder.file("5"))
            let path = folder.file("5/vault")
            try Vault.create(
                at: path, passphrase: Self.passphrase, cost: .lowest, recoveryKey: nil, now: 0)
            place = try VaultPlace(at: path)
            let pair = try SocketPair()
            supervisor = FileDescriptorBox(try pair.second.duplicate())
            let account = SystemAccount(stateFolder: folder.path, user: 5)
            service = AgentServices(
                vaults: HeldVaults(clock: AgentClock.now),
                reach: isSystem ? .account(account) : .folders([place.folder]),
                limitsFiles: false, helpers: HelperChannel(pair.takeFirst()),
                stop: try WakeSignal())
            service.folderOfDeviceKeys = folder.file("keys")
            person = RemotePerson(FrameConnection(try SocketPair().takeFirst()))
            let (tpm, vault) = (MemoryTPM(), try Self.open(path))
            let key = try service.deviceKeys.make(
                .tpm, name: "Mill", for: vault, tpm: address
            ) { _ throws(VaultError) in tpm }
            let content = try Self.content()
            try vault.update { changes throws(VaultError) in
                _ = try changes.add(content, boundTo: key, now: 0)
            }
            secret = try #require(tpm.newest)
            try hold()
        }

        static func content() throws -> EntryContent {
            .oneTimePassword(
                try Credential(
                    issuer: "Site", account: "me", key: SecretBytes(text: "12345678901234567890")))
        }

        private static func open(_ path: String) throws -> UnlockedVault {
            try Vault.unlock(at: path, with: .passphrase(passphrase))
        }

        /// Unlocks the vault, as on a client's request.
        func hold() throws {
            var unlocking: UInt64?
            _ = try service.unlock(
                place, with: .passphrase(Self.passphrase), ceiling: Vault.defaultCeiling,
                for: .standard, &unlocking)
            #expect(unlocking != nil)
        }

        /// Prepares the response of the next program that the agent requests.
        func answer(_ message: TokenMessage) throws {
            let program = try SocketPair()
            let life = try SocketPair()
            for message in [.ready(version: TokenMessage.version), message] {
                try FrameWriter(message).write(to: program.second)
            }
            try supervisor.file.send(HelperChannel.token, with: program.first, life.first)
        }

        /// The number of programs that the agent has requested since the last call.
        func programs() throws -> Int {
            var count = 0
            while try Polling.ready(of: [.reading(supervisor.file)], timeout: .zero)[0] {
                #expect(try supervisor.file.receiveFile()?.byte == HelperChannel.token)
                count += 1
            }
            return count
        }

        func response(to request: (RecordID) -> AgentRequest) throws -> AgentResponse {
            try service.using(place) { use in
                guard let id = use.vault.entries.first?.id else { return .misunderstood }
                let request = request(id)
                return context(use, request).response(to: request)
            }
        }

        private func context(_ use: HeldVaults.Use, _ request: AgentRequest) -> HeldRequest {
            HeldRequest(
                service: service, use: use, place: place, presence: request.presence,
                person: person, proofs: ClientProofs())
        }

        /// The code at time 59 in Unix seconds, or the response if there is none.
        func code() throws -> String {
            let response = try response { id in
                .code(place, id, .moment(59, offset: 0, isRefresh: false), .none)
            }
            guard case .code(let code) = response else { return "\(response)" }
            return code.text
        }

        /// Whether the list includes the code of the entry.
        func findsCode() throws -> Bool {
            let response = try service.find(
                ["Site"], codeAt: .moment(59, offset: 0, isRefresh: false), in: place
            ) { context($0, .status) }
            if case .found = response { return true }
            return false
        }
    }

    private static let code = "287082"

    @Test("a TPM is asked once for each unlock, when the first secret is needed")
    func once() throws {
        let harness = try Harness()
        _ = try harness.service.list(harness.place)
        #expect(try !harness.findsCode())
        #expect(try harness.programs() == 0)
        try harness.answer(.done(.secret(harness.secret)))
        for _ in 0..<3 { #expect(try harness.code() == Self.code) }
        guard case .check(let check) = try harness.response(to: { _ in .check(harness.place) })
        else {
            Issue.record("not checked")
            return
        }
        #expect(check.opened == 1)
        // From now on, the list includes the code.
        #expect(try harness.findsCode())
        #expect(try harness.programs() == 1)
        // Locking also wipes the device key.
        let vault = try harness.service.vaults.use(harness.place).vault
        #expect(vault.holdsKey(of: vault.entries[0]))
        harness.service.vaults.lock(harness.place)
        #expect(!vault.holdsKey(of: vault.entries[0]))
        try harness.hold()
        try harness.answer(.done(.secret(harness.secret)))
        #expect(try harness.code() == Self.code)
        #expect(try harness.programs() == 1)
    }

    @Test("a TPM failure keeps the entry closed, with the reason; the next request tries again")
    func failing() throws {
        let harness = try Harness()
        try harness.answer(.refused(.busy))
        #expect(try harness.code().contains("busy"))
        try harness.answer(.done(.secret(harness.secret)))
        #expect(try harness.code() == Self.code)
    }

    @Test("the system agent uses only its own computer's TPM")
    func otherTPM() throws {
        let address = try #require(TPMAddress("swtpm:host=127.0.0.1,port=2321"))
        let harness = try Harness(isSystem: true, at: address)
        #expect(try harness.code().contains("otherTPM"))
        #expect(try harness.programs() == 0)
        let own = try Harness(isSystem: true)
        try own.answer(.done(.secret(own.secret)))
        #expect(try own.code() == Self.code)
    }

    @Test("a key that another process has made since the unlock is found")
    func later() throws {
        let harness = try Harness()
        let vault = try Vault.unlock(
            at: harness.place.path, with: .passphrase(Harness.passphrase))
        let id = vault.entries[0].id
        let key = try harness.service.deviceKeys.make(
            .file, name: "Mill", for: vault, tpm: .standard
        ) { _ throws(VaultError) in MemoryTPM() }
        let content = try Harness.content()
        try vault.update { changes throws(VaultError) in
            try changes.remove(id, purge: false)
            _ = try changes.add(content, boundTo: key, now: 0)
        }
        #expect(try harness.code() == Self.code)
        #expect(try harness.programs() == 0)
    }

    @Test("a key for which no memory can be locked is not used, and an edit then changes nothing")
    func notLocked() async {
        // Run in a separate process, because the locked memory is shared.
        await #expect(processExitsWith: .success) {
            let harness = try Harness()
            let place = harness.place
            let vault = try harness.service.vaults.use(place).vault
            let before = try Vault.identity(at: place.path)
            let keys = harness.service.deviceKeys.homes(of: vault)
            var filler: [SecretBytes] = []
            repeat {
                filler.append(SecretBytes(key: harness.secret))
            } while filler.last?.isLocked == true
            var unbound = EntryRevision(of: vault.entries[0])
            unbound.binding = .unbind
            let file = BindingChoice(.file, deviceName: "Mill", tpm: .standard)
            let new = NewEntry(
                try Harness.content(), details: EntryDetails(),
                accessControl: .standard(for: .totp), binding: file)
            for edit in [VaultEdit.revise(unbound), .add(new)] {
                try harness.answer(.done(.secret(harness.secret)))
                let response = try harness.response { _ in .edit(place, edit, .none) }
                guard case .failed(.deviceKey(.notLocked)) = response else {
                    Issue.record("\(response)")
                    continue
                }
            }
            #expect(try Vault.identity(at: place.path) == before)
            #expect(harness.service.deviceKeys.homes(of: vault) == keys)
            #expect(harness.service.vaults.isHeld(place))
            // With enough locked memory, the key is loaded.
            filler = []
            try harness.answer(.done(.secret(harness.secret)))
            #expect(try harness.code() == AgentBindingTests.code)
        }
    }

    @Test("a vault that did not reach the system agent leaves no device key there")
    func notArrived() throws {
        let harness = try Harness(isSystem: true)
        let account = SystemAccount(stateFolder: harness.folder.path, user: 5)
        let identity = try Vault.identity(at: account.path)
        try Vault.purge(account.path, in: identity)
        let discard = VaultMove.discard(.passphrase(Harness.passphrase), identity, ceiling: 20)
        // After the copy has arrived, its keys may be the only ones.
        for (state, remaining) in [(SystemAccount.MoveState.confirmed, 1), (.arriving, 0)] {
            try account.setMoving(state)
            let response = try harness.service.carryOut(discard, for: account, harness.person)
            guard case .done = response else {
                Issue.record("\(response)")
                continue
            }
            let keys = try Folder.names(at: harness.folder.file("5/device-keys"))
            #expect(keys.count == remaining)
        }
    }

    @Test("the user's agent creates a key in its sandbox, and other commands use the same key")
    func sandbox() throws {
        let agent = try AgentFixture([])
        try agent.run(AgentFixture.unlock)
        try agent.run("add -q Site:me --secret-file key.txt --this-device=file")
        let keys = ".local/state/watchword/device-keys"
        #expect(try agent.shell("find \(keys) -type f -perm 600 | wc -l").text == "1\n")
        #expect(try agent.shell("find \(keys) -type d ! -perm 700").text.isEmpty)
        let code = "code Site --at 59"
        #expect(try agent.run(code).text == "\(Self.code)\n")
        #expect(
            try agent.run("\(code) --no-agent --passphrase-file pass.txt").text
                == "\(Self.code)\n")
        // Without the key, no question is asked, and no key is created.
        try agent.shell("mv \(keys) away")
        try agent.run("lock -q")
        try agent.run(AgentFixture.unlock)
        let refused = try agent.shell("watchword \(code) || true")
        #expect(refused.text.isEmpty && !AgentFixture.errors(refused).isEmpty)
        #expect(try agent.shell("find \(keys) -type f || true").text.isEmpty)
        try agent.shell("rm -rf \(keys); mv away \(keys); watchword lock -q")
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run(code).text == "\(Self.code)\n")
    }
}

/// Entries that are bound to this device, in a vault that moves to the system agent and back.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct MovedBindingTests {
    private static let toSystem = "vault move --to-system --passphrase-file pass.txt"
    private static let toUser = "vault move --to-user --passphrase-file pass.txt"

    @Test(
        "entries bound to this device move with the vault and get a new key; others do not change")
    func bound() throws {
        let agent = try SystemAgentFixture()
        try agent.make(["Site:me --this-device=file", "Count:me --type hotp --this-device=file"])
        let elsewhere = "export XDG_STATE_HOME=$PWD/elsewhere; watchword"
        try agent.shell(
            """
            umask 077; watchword slot add recovery-key -q --passphrase-file pass.txt >recovery.txt
            \(elsewhere) add -q Far:me --this-device=file --secret-file key.txt \
                --passphrase-file pass.txt
            """)
        let keys = "find .local/state/watchword/device-keys -type f | wc -l"
        #expect(try agent.shell(keys).text == "1\n")
        try agent.shell("umask 077; cp .local/share/watchword/vault copy")
        let code = "code Site --at 59 --passphrase-file pass.txt"
        let moved = try agent.run(Self.toSystem)
        #expect(AgentFixture.errors(moved).contains("kept by the system agent (agent)"))
        #expect(try agent.shell(keys).text == "0\n")
        let kept = "find '\(agent.folder.path)/state/5/device-keys' -type f -perm 600 | wc -l"
        #expect(try SystemAgentFixture.root(kept).text == "1\n")
        #expect(try agent.run(code).text == "287082\n")
        #expect(try agent.run("code Count --passphrase-file pass.txt").text == "755224\n")
        // A copy that was left behind no longer opens it.
        let left = try agent.shell("watchword \(code) --vault copy || true")
        #expect(left.text.isEmpty && !AgentFixture.errors(left).isEmpty)
        // A copy of the agent's vault does not open it, either, even with its recovery key and the
        // home folder.
        try SystemAgentFixture.root(
            "cd '\(agent.folder.path)'; install -o games -m 600 state/5/vault games/taken")
        for opener in ["--passphrase-file pass.txt", "--recovery-key-file recovery.txt"] {
            let closed = try agent.run("code Site --at 59 --vault taken \(opener)", status: 1)
            #expect(AgentFixture.errors(closed).contains("“Site:me” opens only on “"))
        }
        let far = "code Far --at 59 --passphrase-file pass.txt"
        try agent.run(far, status: 1)
        #expect(try agent.shell("\(elsewhere) \(far) --vault taken").text == "287082\n")
        let back = try agent.run(Self.toUser)
        #expect(AgentFixture.errors(back).contains("with a key in a file (file)"))
        #expect(try agent.shell(keys).text == "1\n")
        #expect(try SystemAgentFixture.root(kept).text == "0\n")
        #expect(try agent.run(code).text == "287082\n")
        #expect(try agent.run("code Count --passphrase-file pass.txt").text == "287082\n")
        try agent.run(far, status: 1)
        #expect(try agent.shell("\(elsewhere) \(far)").text == "287082\n")
        let same = "grep ^sealed copy | grep -cFxf - .local/share/watchword/vault"
        #expect(try agent.shell(same).text == "1\n")
    }

    @Test("a vault whose device key is gone does not move, and stays usable")
    func unreachable() throws {
        let agent = try SystemAgentFixture()
        try agent.make(["Site:me", "Bound:me --this-device=file"])
        try agent.shell("for f in .local/state/watchword/device-keys/*/*; do echo x >>$f; done")
        let refused = try agent.shell("watchword \(Self.toSystem) || true")
        #expect(AgentFixture.errors(refused).contains("device key"))
        let sent = "find '\(agent.folder.path)/state' -mindepth 1 -type d"
        #expect(try SystemAgentFixture.root(sent).text.isEmpty)
        #expect(
            try agent.run("code Site --at 59 --passphrase-file pass.txt").text == "287082\n")
    }
}

/// Owns a file descriptor for a value that is copied.
private final class FileDescriptorBox: Sendable {
    let file: FileDescriptor

    init(_ file: consuming FileDescriptor) { self.file = file }
}
