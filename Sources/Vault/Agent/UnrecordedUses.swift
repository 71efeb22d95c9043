internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// The use of an entry by a client; it refers to no key.
struct UsedEntry {
    let place: VaultPlace
    let unlocking: UInt64
    let recorded: RecordedUse

    init(_ id: RecordID, in use: HeldVaults.Use, _ place: VaultPlace, at time: Int64) {
        self.place = place
        unlocking = use.unlocking
        recorded = RecordedUse(of: id, at: time)
    }
}

/// The uses of entries by one client that are not recorded yet.
///
/// Saving the record takes milliseconds. If a client asks for one code after another, their uses are
/// therefore saved together when it pauses.
struct UnrecordedUses {
    private var uses: [RecordedUse] = []
    /// The latest of them; all are of the same vault.
    private var latest: UsedEntry?
    private var deadline: Moment?
    /// The last use of all.
    private var last: (place: VaultPlace, id: RecordID, end: Moment)?

    /// A client that sends nothing for this time has paused.
    private static let pause = Duration.milliseconds(20)
    /// How long to wait for a pause.
    private static let longestWait = Duration.milliseconds(500)
    /// Another use of the same entry within this time is not recorded.
    private static let repetition = Duration.seconds(60)

    /// The pause after which the uses are recorded; `nil` if there are none.
    var pause: Duration? {
        deadline.map { min(UnrecordedUses.pause, $0.timeRemaining) }
    }

    /// Adds a use whose result the client has received.
    mutating func add(_ use: UsedEntry, in vaults: HeldVaults) {
        if let last, last.place == use.place, last.id == use.recorded.id,
            last.end.timeRemaining > .zero
        {
            return
        }
        if let latest, latest.place != use.place || latest.unlocking != use.unlocking {
            record(in: vaults)
        }
        uses.append(use.recorded)
        latest = use
        deadline = deadline ?? .now + UnrecordedUses.longestWait
        last = (use.place, use.recorded.id, .now + UnrecordedUses.repetition)
    }

    /// Records the uses, unless their vault has been locked.
    mutating func record(in vaults: HeldVaults) {
        guard let latest else { return }
        if let vault = vaults.vault(at: latest.place, since: latest.unlocking) {
            vault.record(uses)
        }
        uses = []
        self.latest = nil
        deadline = nil
    }
}
