import Courier
import Devices
import Foundation
import OneTimePassword
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

/// Two devices that share a vault, and bind entries to the device.
struct BoundDevicesTests {
    @Test("in 1,000 random steps on two devices, no key is lost, and no old secret is presented")
    func steps() throws {
        var (presented, restored, moved) = (0, 0, 0)
        for seed in 0..<4 as Range<UInt64> {
            var world = try World(seed: seed)
            for step in 0..<250 {
                try world.step()
                try #require(world.server.row.wiped == nil, "seed \(seed), step \(step)")
            }
            try world.settle()
            #expect(try world.lost().isEmpty, "seed \(seed)")
            #expect(world.presented == world.presented.sorted(), "seed \(seed)")
            presented += world.presented.count
            restored += world.counts.restored
            moved += world.counts.moved
        }
        #expect(presented > 40 && min(restored, moved) > 3)
    }
}

/// A device with its own copy of the vault, and with the key to which it binds entries.
private final class Machine {
    let folder: TemporaryFolder
    private(set) var vault: UnlockedVault
    private let keys: DeviceKeyStore
    private let name: String
    private var key: DeviceID?
    /// Older states of the vault's file.
    var copies: [[UInt8]] = []
    /// Files of this device that a synchronised file has replaced, and that are not yet merged
    /// completely.
    private(set) var pending: [String] = []
    private var files = 0

    private var path: String { folder.file("vault") }

    init(_ name: String, in folder: TemporaryFolder) throws {
        self.folder = folder
        self.name = name
        keys = DeviceKeyStore(folder: folder.file("keys"), bindings: [.tpm, .file])
        vault = try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(Device.passphrase))
    }

    private func unlock(_ path: String) throws -> UnlockedVault {
        let vault = try Vault.unlock(at: path, with: .passphrase(Device.passphrase))
        vault.openDevices(keys)
        if let key { try keys.load(key, for: vault, through: Machine.withoutTPM) }
        return vault
    }

    /// The key of this device.
    func deviceKey() throws -> DeviceID {
        if let key { return key }
        let made = try keys.make(
            .file, name: name, for: vault, tpm: .standard, through: Machine.withoutTPM)
        key = made
        return made
    }

    private static func withoutTPM(
        _: TPMAddress
    ) throws(VaultError) -> any TokenRequestHandler { throw .deviceKey(.token(.noDevice)) }

    func bytes() throws -> [UInt8] { try folder.bytes(of: "vault") }

    private func put(_ bytes: [UInt8], as name: String) throws {
        try folder.write(bytes, to: name)
        try setMode(0o600, of: folder.file(name))
    }

    func exchange(_ other: [UInt8]) throws {
        files += 1
        try put(bytes(), as: "replaced-\(files)")
        pending.append(folder.file("replaced-\(files)"))
        try put(other, as: "vault")
        vault = try unlock(path)
    }

    func mergePending(now: Int64) throws {
        let files = pending
        pending = []
        for file in files where try !merge(file, now: now) { pending.append(file) }
    }

    @discardableResult func merge(_ other: Machine, now: Int64) throws -> Bool {
        try merge(other.path, now: now)
    }

    /// - Returns: `true` if everything was merged.
    @discardableResult func merge(_ path: String, now: Int64) throws -> Bool {
        let copy =
            try vault.copy(at: path)
            ?? vault.copy(at: path, passphrase: Device.passphrase, among: [])
        guard let plan = try plan(with: copy, now: now) else {
            // The owner exchanges the two files, and merges in the other direction.
            try exchange([UInt8](Data(contentsOf: URL(filePath: path))))
            try mergePending(now: now)
            return true
        }
        #expect(!plan.changes.contains { $0.action == .forked })
        try vault.merge(plan, confirmed: [], comparing: EnrolledSecret.order, now: now)
        return plan.unmerged.isEmpty
    }

    /// - Returns: `nil` if the copy has a newer key.
    private func plan(with copy: VaultCopy, now: Int64) throws(VaultError) -> MergePlan? {
        do throws(VaultError) {
            return try vault.planOfMerge(with: copy, comparing: EnrolledSecret.order, now: now)
        } catch .copyHasNewerKey {
            return nil
        }
    }

    /// Changes the vault, unless the entry is bound to the other device, or older files may not be
    /// erased yet.
    @discardableResult func change(_ change: (inout VaultChanges) throws(VaultError) -> Void)
        throws(VaultError) -> Bool
    {
        do throws(VaultError) {
            try vault.update(change)
            return true
        } catch .boundElsewhere, .vanishedEntries {
            return false
        }
    }

    /// The static secret of an entry; `nil` if the entry is bound to the other device.
    func secret(of id: RecordID, in file: UnlockedVault? = nil) throws(VaultError) -> String? {
        let vault = file ?? vault
        do throws(VaultError) {
            let content = try vault.open(id, proof: vault.proofOfUnlocking(for: id))
            guard case .plainSecret(_, _, let value) = content else { return nil }
            return value.text
        } catch .boundElsewhere {
            return nil
        }
    }

    /// All static secrets that this device can open, including those in files that wait for their
    /// owner.
    func secrets() throws -> [String] {
        try ([vault] + pending.map { try unlock($0) }).flatMap { file in
            try file.entries.filter { $0.kind == .secret }.compactMap {
                try secret(of: $0.id, in: file)
            }
        }
    }
}

private struct World {
    var server = TestServer()
    private let machines: [Machine]
    private let enrolled: RecordID
    private let counter: RecordID
    /// The machine to which the enrolled secret is bound.
    private var holder = 0
    private var generator: SeededGenerator
    private var now = Device.now
    /// The secrets that were entered, and neither replaced nor removed.
    private var secrets: Set<String> = []
    private var made = 0
    private(set) var counts = (restored: 0, moved: 0)

    /// The generations of the secrets that reached the server.
    var presented: [Int] {
        server.arrived.map { login in
            Int(login.secret.text.split(separator: "_")[1]) ?? 0
        }
    }

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        let device = try Device()
        try device.enrol(&server)
        let vault = try device.unlock()
        enrolled = try #require(vault.entries.first).id
        let credential = try Credential(
            issuer: "Bank", account: "", key: SecretBytes(text: "the key of the bank"),
            algorithm: .sha1, style: .decimal(.six), movingFactor: .counter(1))
        counter = try vault.update { changes throws(VaultError) in
            try changes.add(.oneTimePassword(credential), now: Device.now)
        }
        let folder = try TemporaryFolder()
        try folder.write(device.folder.bytes(of: "vault"), to: "vault")
        try setMode(0o600, of: folder.file("vault"))
        machines = [
            try Machine("laptop", in: device.folder), try Machine("tower", in: folder),
        ]
        try bindEnrolled()
    }

    private func bindEnrolled() throws {
        let machine = machines[holder]
        let key = try machine.deviceKey()
        try machine.change { changes throws(VaultError) in
            try changes.bind(enrolled, to: key, now: now)
        }
    }

    private mutating func chance(_ count: Int) -> Int {
        Int.random(in: 0..<count, using: &generator)
    }

    mutating func step() throws {
        now += Int64(chance(6))
        let index = chance(2)
        let (machine, other) = (machines[index], machines[1 - index])
        let plain = machine.vault.entries.filter { $0.kind == .secret }
        let entry = plain.isEmpty ? nil : plain[chance(plain.count)]
        switch chance(24) {
        case 0, 1: try add(on: machine)
        case 2:
            let all = machine.vault.entries
            let (id, name, now) = (all[chance(all.count)].id, "n\(chance(1000))", now)
            try machine.change { changes throws(VaultError) in
                try changes.rename(id, issuer: name, account: "", now: now)
            }
        case 3, 4:
            if let entry { try replace(entry, on: machine) }
        case 5:
            if let entry { try remove(entry, on: machine) }
        case 6, 7, 8:
            let ids = plain.map(\.id) + [counter]
            try toggle(ids[chance(ids.count)], on: machine)
        case 9, 10:
            let id = counter
            try machine.change { changes throws(VaultError) in
                _ = try changes.advanceCounter(of: id)
            }
        case 11, 12, 13: try signIn(losing: chance(3) == 0)
        case 14, 15, 16, 17: try merge(other, into: machine)
        case 18 where chance(4) == 0:
            try machine.change { changes throws(VaultError) in try changes.rekey() }
        case 18, 19: machine.copies.append(try machine.bytes())
        case 20 where !machine.copies.isEmpty && machine.pending.isEmpty:
            try machine.exchange(machine.copies[chance(machine.copies.count)])
            counts.restored += 1
        case 21: try machine.mergePending(now: now)
        case 22: try bindEnrolled()
        case 23 where chance(2) == 0: try moveEnrolled()
        default: break
        }
    }

    private mutating func secret() -> String {
        made += 1
        return "secret \(made)"
    }

    private mutating func add(on machine: Machine) throws {
        let (value, now) = (secret(), now)
        let key = chance(3) == 0 ? try machine.deviceKey() : nil
        let content = EntryContent.plainSecret(
            issuer: "i", account: "\(made)", value: SecretBytes(text: value))
        try machine.change { changes throws(VaultError) in
            try changes.add(content, boundTo: key, now: now)
        }
        secrets.insert(value)
    }

    private mutating func replace(_ entry: EntrySummary, on machine: Machine) throws {
        guard let old = try machine.secret(of: entry.id) else { return }
        let (value, now) = (secret(), now)
        let content = EntryContent.plainSecret(
            issuer: entry.issuer, account: entry.account, value: SecretBytes(text: value))
        let isReplaced = try machine.change { changes throws(VaultError) in
            try changes.replace(entry.id, with: content, now: now)
        }
        guard isReplaced else { return }
        secrets.remove(old)
        secrets.insert(value)
    }

    private mutating func remove(_ entry: EntrySummary, on machine: Machine) throws {
        guard let old = try machine.secret(of: entry.id) else { return }
        try machine.change { changes throws(VaultError) in
            try changes.remove(entry.id, purge: false)
        }
        secrets.remove(old)
    }

    private func toggle(_ id: RecordID, on machine: Machine) throws {
        let key = try machine.deviceKey()
        let isBound = try machine.vault.entry(id).binding != nil
        try machine.change { changes throws(VaultError) in
            if isBound {
                try changes.unbind(id, now: now)
            } else {
                try changes.bind(id, to: key, now: now)
            }
        }
    }

    private mutating func merge(_ other: Machine, into machine: Machine) throws {
        let counter = counter
        let before = try machine.vault.counter(of: counter) ?? 0
        try machine.merge(other, now: now)
        // If the machine exchanged its file for the other one, and could not merge it completely,
        // it has the counter of the other file.
        let after = try machine.vault.counter(of: counter) ?? 0
        #expect(after >= before || !machine.pending.isEmpty)
    }

    /// Signs in on the device to which the secret is bound, if it is bound there now.
    private mutating func signIn(losing: Bool) throws {
        let vault = machines[holder].vault
        guard try vault.entry(enrolled).binding?.isHere == true else { return }
        server.faults = losing ? [[.requestLost, .answerLost][chance(2)]] : []
        let turn = try vault.takeLoginLock()
        let content = try vault.open(enrolled, proof: vault.proofOfUnlocking(for: enrolled))
        do {
            var login = try EnrolledLogin(content, of: enrolled, in: vault)
            _ = try login.signIn(turn: turn, over: &server, now: now)
        } catch DeviceLoginError.stale {
            // An older copy of the vault was restored.
        } catch DeviceLoginError.helper {
            // A message was lost.
        }
    }

    /// Ends the binding on the one device, and binds the secret to the other device.
    private mutating func moveEnrolled() throws {
        let (former, next) = (machines[holder], machines[1 - holder])
        for machine in machines { try machine.mergePending(now: now) }
        guard try former.vault.entry(enrolled).binding?.isHere == true else { return }
        let (id, now) = (enrolled, now)
        try former.change { changes throws(VaultError) in try changes.unbind(id, now: now) }
        try next.merge(former, now: now)
        if try next.vault.entry(enrolled).binding == nil {
            holder = 1 - holder
            counts.moved += 1
            // An older copy would present a secret that the other device has presented since.
            for machine in machines { machine.copies = [] }
        }
        try bindEnrolled()
    }

    /// Merges until only changes remain that the owner must decide.
    mutating func settle() throws {
        for _ in 0..<4 {
            for (machine, other) in [(machines[0], machines[1]), (machines[1], machines[0])] {
                for file in machine.pending { try other.merge(file, now: now) }
                try merge(other, into: machine)
                try machine.mergePending(now: now)
            }
            // If both devices have bound an entry, the owner ends one of the bindings.
            for entry in machines[0].vault.entries where entry.id != enrolled {
                guard entry.binding?.isHere == true,
                    let other = machines[1].vault.entries.first(where: { $0.id == entry.id }),
                    other.binding?.isHere == true
                else { continue }
                try toggle(entry.id, on: machines[0])
            }
        }
        guard try machines[holder].vault.entry(enrolled).binding?.isHere == true else { return }
        let last = server.arrived.count
        try signIn(losing: false)
        #expect(server.arrived.count > last)
    }

    /// The secrets that neither device has any more.
    func lost() throws -> Set<String> {
        try machines.reduce(secrets) { try $0.subtracting($1.secrets()) }
    }
}
