import Devices
import Glibc
import SecretVault
import WatchwordCryptography

/// A program for tests that creates and changes a vault in a process that can be killed, starved
/// and raced.
///
/// Its passphrase is not secret, so it may appear here.
@main struct VaultWriter {
    static let passphrase = SecretBytes(copying: Array("correct horse battery staple".utf8).span)

    static func main() {
        // The parent process may have blocked or ignored signals.
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_UNBLOCK, &all, nil)
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_DFL) }
        let arguments = CommandLine.arguments
        precondition(
            arguments.count == 5,
            "vault-writer create|add|fill|remove|purge|rekey|undo|merge|bind|unbind|rebind|measure|scan|scan-full|try|ask PATH NAME COUNT"
        )
        let (path, name) = (arguments[2], arguments[3])
        let count = Int(arguments[4]) ?? 0
        do throws(VaultError) {
            if arguments[1] == "create" { return try create(path) }
            if arguments[1] == "try" { return attempt(path, passphrase: name, rounds: count) }
            if arguments[1] == "measure" { return try measure(path, rounds: count) }
            // Without space in the locked heap, secrets are kept in ordinary memory.
            let filler = arguments[1] == "scan-full" ? filler() : []
            defer { withExtendedLifetime(filler) {} }
            let vault = try Vault.unlock(at: path, with: .passphrase(passphrase))
            if arguments[1] == "ask" { return ask(vault, answer: name, rounds: count) }
            if arguments[1].hasPrefix("scan") { return try scan(vault, name, count) }
            if arguments[1] == "fill" { return try fill(vault, name, count) }
            if arguments[1] == "undo" {
                return try vault.undo(vault.planOfUndo(now: 0), confirmed: [], now: 0)
            }
            if arguments[1] == "merge" { return try merge(path + "-copy", into: vault) }
            if arguments[1].hasSuffix("bind") {
                return try bind(vault, arguments[1], keys: path + "-keys", name: name)
            }
            for index in 0..<count {
                try change(vault, arguments[1], name: "\(name)-\(index)")
            }
        } catch {
            print(error)
            exit(9)  // exit() flushes the printed output.
        }
    }

    /// The text before the name in a secret: `free` overwrites the first 16 bytes of a block.
    private static let secretStart = "the whole secret of "
    /// The text after the name in a secret, which the name of the entry does not contain.
    private static let secretEnd = " is known"

    /// More secrets than the locked heap can hold.
    private static func filler() -> [SecretBytes] {
        let kilobyte = [UInt8](repeating: 1, count: 1024)
        return (0..<5_000).map { _ in SecretBytes(copying: kilobyte.span) }
    }

    static func create(_ path: String) throws(VaultError) {
        let reports = try Vault.create(
            at: path, passphrase: passphrase, cost: .lowest, recoveryKey: nil, now: 0)
        for report in reports { print(report) }
    }

    static func merge(_ path: String, into vault: UnlockedVault) throws(VaultError) {
        guard let copy = try vault.copy(at: path) else { throw .rekeyed }
        let order: EnrolledOrder.Function = { (_, _) in .unrelated }
        let plan = try vault.planOfMerge(with: copy, comparing: order, now: 0)
        try vault.merge(plan, confirmed: [], comparing: order, now: 0)
    }

    /// Binds all entries to a new key with this name, or ends their bindings.
    static func bind(
        _ vault: UnlockedVault, _ verb: String, keys: String, name: String
    ) throws(VaultError) {
        let store = DeviceKeyStore(folder: keys, bindings: [.tpm, .file])
        let token: DeviceKeyStore.TokenAccess = { (_) throws(VaultError) in throw .busy }
        let former = store.homes(of: vault)
        for id in former { try store.load(id, for: vault, through: token) }
        if verb == "unbind" {
            return try vault.update { changes throws(VaultError) in
                for entry in changes.entries { try changes.unbind(entry.id, now: 0) }
            }
        }
        let key = try store.make(.file, name: name, for: vault, tpm: .standard, through: token)
        try vault.update { changes throws(VaultError) in
            guard verb == "bind" else {
                try changes.rebind(from: former, to: key, now: 0)
                return
            }
            for entry in changes.entries { try changes.bind(entry.id, to: key, now: 0) }
        }
    }

    static func change(_ vault: UnlockedVault, _ verb: String, name: String) throws(VaultError) {
        do throws(VaultError) {
            try vault.update { changes throws(VaultError) in
                if verb == "add" {
                    let text = secretStart + name + secretEnd
                    let value = SecretBytes(copying: Array(text.utf8).span)
                    try changes.add(.plainSecret(issuer: name, account: "", value: value), now: 0)
                } else if verb == "rekey" {
                    try changes.rekey()
                } else if let first = changes.entries.first {
                    try changes.remove(first.id, purge: verb == "purge")
                }
            }
        } catch .busy {
            // The lock is not fair: a writer that saves without a pause could take it every time.
            try change(vault, verb, name: name)
        }
    }

    /// Tries a passphrase repeatedly and prints each result.
    static func attempt(_ path: String, passphrase: String, rounds: Int) {
        for _ in 0..<rounds {
            do {
                let given = SecretBytes(copying: Array(passphrase.utf8).span)
                _ = try Vault.unlock(at: path, with: .passphrase(given))
                say("open")
            } catch {
                say("\(error)")
            }
        }
    }

    /// Checks presence for the first entry repeatedly and prints each result.
    static func ask(_ vault: UnlockedVault, answer: String, rounds: Int) {
        let first = vault.entries[0].id
        for _ in 0..<rounds {
            do {
                var check = Answering(yes: answer == "yes")
                switch try vault.prove(&check, for: first, words: "test") {
                case .proved(let proof):
                    say("proved \(try vault.open(first, proof: proof).issuer)")
                case .refused(let cost): say("refused(\(cost))")
                }
            } catch {
                say("\(error)")
            }
        }
    }

    // Written without a buffer, so that it is visible even if the program is killed right
    // afterwards.
    private static func say(_ words: String) {
        let line = Array("\(words)\n".utf8)
        _ = unsafe write(STDOUT_FILENO, line, line.count)
    }

    /// A check with a fixed result.
    struct Answering: PresenceCheck {
        typealias Grade = Advisory
        let yes: Bool

        mutating func isPresent(for purpose: String) -> Bool { yes }
    }

    /// Adds all entries in one save.
    static func fill(_ vault: UnlockedVault, _ name: String, _ count: Int) throws(VaultError) {
        try vault.update { changes throws(VaultError) in
            for index in 0..<count {
                let value = SecretBytes(copying: Array("secret of \(name)-\(index)".utf8).span)
                try changes.add(
                    .plainSecret(
                        issuer: "\(name)-\(index)", account: "alice@example.com", value: value),
                    now: 0)
            }
        }
    }

    /// Prints the shortest time of all rounds for unlocking, listing and opening the last entry.
    static func measure(_ path: String, rounds: Int) throws(VaultError) {
        var least: [Duration] = []
        for _ in 0..<rounds {
            let clock = ContinuousClock()
            let start = clock.now
            let vault = try Vault.unlock(at: path, with: .passphrase(passphrase))
            let unlocked = clock.now
            let entries = vault.entries
            let listed = clock.now
            if let last = entries.last {
                _ = try vault.open(last.id, proof: vault.proofOfUnlocking(for: last.id))
            }
            let times = [unlocked - start, listed - unlocked, clock.now - listed]
            least = least.isEmpty ? times : zip(least, times).map(min)
        }
        for (name, time) in zip(["unlock", "list", "open"], least) { print(name, time) }
    }

    /// Prints the number of copies of each entry's secret in memory, while the first entry is open
    /// and afterwards.
    static func scan(_ vault: UnlockedVault, _ name: String, _ count: Int) throws(VaultError) {
        let scans = (0..<count).map { MemoryScan(name, "-\($0)" + secretEnd) }
        try withFirst(of: vault) { print("open", scans.map { $0.count() }) }
        print("closed", scans.map { $0.count() })
    }

    /// Keeps the first entry open while `body` runs.
    static func withFirst(of vault: UnlockedVault, _ body: () -> Void) throws(VaultError) {
        let first = vault.entries[0].id
        let content = try vault.open(first, proof: vault.proofOfUnlocking(for: first))
        withExtendedLifetime(content, body)
    }
}
