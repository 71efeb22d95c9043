internal import OneTimePassword
internal import SecretVault
internal import Synchronization
internal import VaultService
internal import WatchwordSystem

// The state of the held vaults, protected by a mutex.
extension HeldVaults {
    struct Held {
        var vault: HeldVault
        /// The state of the file that `vault` reflects; `nil` if the file must be read again.
        var stamp: FileStamp?
        /// The size of the file that `vault` reflects, in bytes.
        var size: Int64
        let unlocking: UInt64
        let time: HoldingTime
        let end: Duration
        var lastUse: Duration
        /// The credentials of entries whose codes clients show.
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
        /// The connection to the program that asks the person or the server.
        let connection: SharedDescriptor
    }

    struct State {
        var vaults: [VaultPlace: Held] = [:] {
            // Every change that locks a vault also wipes its key and ends the requests that still
            // use it.
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
        /// The purpose for which each user's presence is being checked; the key `nil` is the user
        /// of this process.
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
    /// The clocks are not read atomically, and the kernel adjusts them; a difference below this
    /// does not indicate a suspend.
    private static let leastSuspend = Duration.seconds(1)

    /// Wipes the keys of vaults that are no longer held.
    ///
    /// When the agent ends, requests that have begun may still finish.
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

    /// Ensures that vaults that are being opened will not be held.
    ///
    /// - Returns: whether any such vault was being opened.
    mutating func stopOpening(_ isLocked: (VaultPlace) -> Bool) -> Bool {
        let left = opening.filter { !isLocked($0.value) }
        defer { opening = left }
        return left.count < opening.count
    }

    /// Drops the keys whose time has expired, and all keys if the machine was suspended.
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

// While a request waits for a person or a server, it keeps the key of its vault.
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

// Presence checks that wait for a person.
extension HeldVaults {
    /// Begins a check of a user's presence, unless another one has not ended.
    ///
    /// - Returns: the purpose of the check that has not ended; `nil` if the new check has begun.
    func beginCheck(for subject: String, of user: UInt32?) -> String? {
        state.withLock { state in
            if let other = state.asking[user] { return other }
            state.asking[user] = subject
            return nil
        }
    }

    /// Ends the presence check of a user.
    func endCheck(of user: UInt32?) { state.withLock { $0.asking[user] = nil } }
}

/// A file descriptor that several threads use.
final class SharedDescriptor: Sendable {
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor) { self.file = file }

    /// Shuts the connection down, which wakes the threads that wait for it.
    func shutDown() { file.shutDown() }
}

// Limits the memory of vaults: each takes about four times the size of its file, and each
// connection that has opened a vault for itself has its own copy.
extension HeldVaults {
    /// The total size of the files of all vaults that the system agent holds.
    static let largestTotalOfSystem: Int64 = 128 << 20
    /// The part of the total that is reserved for small files.
    private static let leftToSmallFiles: Int64 = 48 << 20

    /// The total size of the files of a folder's vaults, if there are several.
    private static let largestOfFolder: Int64 = 64 << 20
    /// The size of a file that any number of threads may read at the same time.
    static let largestSmallFile: Int64 = 1 << 20

    /// Whether a vault whose file has this size may be held in addition to the others in its
    /// folder.
    ///
    /// A vault that serves all connections may always be held, unless the vaults of all users
    /// together would exceed the memory limit.
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

    /// Makes room for a vault whose file has this size by dropping others, if possible.
    ///
    /// - Returns: whether there is room.
    func makeRoom(for place: VaultPlace, size: Int64, in state: inout State) -> Bool {
        guard let others = givingWay(to: place, size: size, in: state) else { return false }
        if !others.isEmpty { state.vaults = state.vaults.filter { !others.contains($0.key) } }
        return true
    }

    /// The vaults that must be dropped to make room for a file of this size; `nil` if there is no
    /// room.
    ///
    /// Only a vault of a single connection is dropped, and only if its user takes more memory than
    /// the user of the new one.
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
            // The next choice is the largest vault of the user who takes the most memory.
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
