internal import OneTimePassword
internal import SecretVault
internal import Synchronization
internal import VaultService
internal import WatchwordSystem

// What is held, behind a mutex.
extension HeldVaults {
    struct Held {
        var vault: HeldVault
        /// The state of the file that `vault` reflects; `nil` if it must be read again.
        var stamp: FileStamp?
        /// The size of the file that `vault` reflects, in bytes.
        var size: Int64
        let unlocking: UInt64
        let time: HoldingTime
        let end: Duration
        var lastUse: Duration
        /// What clients that show codes need for the next ones.
        var shown: [UInt64: ShownCredential] = [:]
        var checks = PassedChecks()

        func isOver(at moment: Duration) -> Bool { moment >= min(end, lastUse + time.idle) }
    }

    struct ShownCredential {
        let credential: Credential
        let end: Duration
    }

    /// A request that waits for a person or a server while it uses a vault.
    struct Wait {
        let place: VaultPlace
        let unlocking: UInt64
        /// The connection to the program that asks them.
        let connection: SharedDescriptor
    }

    struct State {
        var vaults: [VaultPlace: Held] = [:] {
            // Whatever locks a vault wipes its key, and ends the requests that still use it.
            didSet {
                wipeKeys()
                endWaits()
            }
        }
        /// The keys of the vaults, by unlocking.
        var keys: [UInt64: HeldKey] = [:]
        /// The waiting requests, by number.
        var waits: [UInt64: Wait] = [:]
        var lastWait: UInt64 = 0
        /// What each user's presence is being checked for; `nil` is the user of this process.
        var asking: [UInt32?: String] = [:]
        var unlockings: UInt64 = 0
        /// The vaults that are being opened, by the number of the unlocking.
        var opening: [UInt64: VaultPlace] = [:]
        var shown: UInt64 = 0
        var suspended: Duration
        /// Whether the agent is ending, and holds no more vaults.
        var isClosed = false
    }
}

extension HeldVaults.State {
    /// The clocks are not read atomically, and the kernel adjusts them; a smaller difference does
    /// not mean a suspend.
    private static let leastSuspend = Duration.seconds(1)

    /// Wipes the keys of vaults that are no longer held.
    ///
    /// When the agent ends, requests that have begun may end, too.
    private mutating func wipeKeys() {
        // There is one key for each vault.
        guard keys.count != vaults.count, !isClosed else { return }
        let held = Set(vaults.values.map(\.unlocking))
        for (unlocking, key) in keys where !held.contains(unlocking) {
            key.wipe()
            keys[unlocking] = nil
        }
    }

    /// Wakes the waiting requests whose vault is no longer held.
    private mutating func endWaits() {
        guard !waits.isEmpty else { return }
        for (number, wait) in waits where vaults[wait.place]?.unlocking != wait.unlocking {
            wait.connection.shutDown()
            waits[number] = nil
        }
    }

    /// Ensures that vaults that are being opened are not held.
    ///
    /// - Returns: whether there was one.
    mutating func stopOpening(_ isLocked: (VaultPlace) -> Bool) -> Bool {
        let left = opening.filter { !isLocked($0.value) }
        defer { opening = left }
        return left.count < opening.count
    }

    /// Forgets the keys whose time has expired, and all keys if the machine was suspended.
    mutating func drop(at now: AgentClock) {
        if now.suspended - suspended >= Self.leastSuspend {
            vaults = [:]
            opening = [:]
        }
        suspended = now.suspended
        vaults = vaults.filter { !$0.value.isOver(at: now.sinceBoot) }
        for (place, held) in vaults where !held.shown.isEmpty {
            vaults[place]?.shown = held.shown.filter { $0.value.end > now.sinceBoot }
        }
    }
}

// A request that waits for a person or a server still has the key of its vault.
extension HeldVaults {
    /// Runs `body`, which waits for the program at the other end of `connection`.
    ///
    /// If the vault is locked meanwhile, the connection is shut down, so that the wait ends and the
    /// key is released.
    ///
    /// - Returns: `nil` if the vault is no longer held since this unlocking; `body` does not run
    ///   then.
    func waiting<Result, Failure: Error>(
        for connection: SharedDescriptor, in place: VaultPlace, _ unlocking: UInt64,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let now = clock()
        let number: UInt64? = state.withLock { state in
            state.drop(at: now)
            guard state.vaults[place]?.unlocking == unlocking else { return nil }
            state.lastWait += 1
            state.waits[state.lastWait] = Wait(
                place: place, unlocking: unlocking, connection: connection)
            return state.lastWait
        }
        guard let number else { return nil }
        defer { state.withLock { $0.waits[number] = nil } }
        return try body()
    }
}

// The checks that wait for a person.
extension HeldVaults {
    /// Begins a check of a user's presence, unless another one has not ended.
    ///
    /// - Returns: what the other one is for; `nil` if the check has begun.
    func beginCheck(for subject: String, of user: UInt32?) -> String? {
        state.withLock { state in
            if let other = state.asking[user] { return other }
            state.asking[user] = subject
            return nil
        }
    }

    /// Ends the check that has begun.
    func endCheck(of user: UInt32?) { state.withLock { $0.asking[user] = nil } }
}

/// A file descriptor that several threads use.
final class SharedDescriptor: Sendable {
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor) { self.file = file }

    /// Wakes whoever waits for the connection.
    func shutDown() { file.shutDown() }
}

// How much memory vaults take: about four times the size of their files. Each connection that
// opened a vault for itself has a copy of it.
extension HeldVaults {
    /// The total size of the files of all vaults that the system agent holds.
    static let largestTotalOfSystem: Int64 = 128 << 20
    /// The part of it that large files leave to small ones.
    private static let leftToSmallFiles: Int64 = 48 << 20

    /// The total size of the files of a folder's vaults, if there are several.
    private static let largestOfFolder: Int64 = 64 << 20
    /// The size of a file that any number of threads may read at the same time.
    static let largestSmallFile: Int64 = 1 << 20

    /// Whether a vault whose file has this size may be held besides the others in its folder.
    ///
    /// One for all connections always may, unless those of all users take too much.
    func hasRoom(for place: VaultPlace, size: Int64) -> Bool {
        state.withLock { givingWay(to: place, size: size, in: $0) != nil }
    }

    /// Records the size of the file that is about to be read.
    ///
    /// - Returns: whether there is room for its content.
    func reserve(_ size: Int64, for place: VaultPlace, _ unlocking: UInt64) -> Bool {
        state.withLock { state in
            guard state.vaults[place]?.unlocking == unlocking,
                makeRoom(for: place, size: size, in: &state)
            else { return false }
            state.vaults[place]?.size = size
            return true
        }
    }

    /// Makes room for a vault whose file has this size, if others give way to it.
    ///
    /// - Returns: whether there is room.
    func makeRoom(for place: VaultPlace, size: Int64, in state: inout State) -> Bool {
        guard let others = givingWay(to: place, size: size, in: state) else { return false }
        if !others.isEmpty { state.vaults = state.vaults.filter { !others.contains($0.key) } }
        return true
    }

    /// The vaults that give way to one whose file has this size; `nil` if there is no room for it.
    ///
    /// A vault of a single connection gives way if its user would still have more than the other
    /// one.
    private func givingWay(
        to place: VaultPlace, size: Int64, in state: State
    ) -> Set<VaultPlace>? {
        var sizes = state.vaults.mapValues(\.size)
        sizes[place] = size
        let isAlone = !sizes.contains { $0.key.folder == place.folder && $0.key != place }
        var totals: [FolderIdentity: Int64] = [:]
        for (place, size) in sizes { totals[place.folder, default: 0] += size }
        let own = totals[place.folder] ?? 0
        guard place.connection == 0 || isAlone || own <= HeldVaults.largestOfFolder else {
            return nil
        }
        let left = size > HeldVaults.largestSmallFile ? HeldVaults.leftToSmallFiles : 0
        var all = sizes.values.reduce(0, +)
        var others: Set<VaultPlace> = []
        while all > largestTotal - left {
            // Of the user who has most, the largest.
            func total(_ place: VaultPlace) -> Int64 { totals[place.folder] ?? 0 }
            let next = sizes.filter { $0.key.connection != 0 && total($0.key) > own }
                .max { (total($0.key), $0.value) < (total($1.key), $1.value) }
            guard let next else { return nil }
            others.insert(next.key)
            sizes[next.key] = nil
            totals[next.key.folder] = total(next.key) - next.value
            all -= next.value
        }
        return others
    }
}
