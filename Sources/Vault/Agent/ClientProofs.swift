internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// The proofs of a client on its connection, valid as long as its vaults are held.
///
/// The object is used by the thread of the connection.
final class ClientProofs {
    /// The entries for which the client proved presence in order to refresh the codes that it
    /// shows.
    var shown: [ShownEntry] = []
    /// The entries for which the client proved presence, for its next edit.
    var confirmed: [(check: ConfirmedEntry, proof: ClientProof)] = []
    /// The further proofs that the client can open a vault.
    ///
    /// Showing secrets, codes of the future, and changes to the codes that a key produces require
    /// such a proof.
    var repeated: [ClientProof] = []
    /// The use of an entry, until the client has received the response.
    var use: UsedEntry?

    /// The number of entries in ``confirmed``; an import cannot replace more entries that require a
    /// check.
    static let mostConfirmed = 1000

    /// Drops the credentials of entries whose codes the client has shown.
    func forgetShown(in vaults: HeldVaults, where isOver: (ShownEntry) -> Bool) {
        for entry in shown where isOver(entry) {
            vaults.forgetCredential(entry.credential, of: entry.place)
        }
        shown.removeAll(where: isOver)
    }
}

/// A proof on a connection, which counts for a limited time and until the vault is locked.
struct ClientProof {
    let place: VaultPlace
    /// The unlocking of the vault in which the proof was made.
    let unlocking: UInt64
    let end: Moment

    /// How long a proof counts: an import or an export may ask for further checks and for a
    /// password in the meantime.
    static let lifetime = Duration.seconds(300)

    init(
        for use: HeldVaults.Use, of place: VaultPlace, until end: Moment = .now + lifetime
    ) {
        self.place = place
        unlocking = use.unlocking
        self.end = end
    }

    /// Whether the proof still counts for the vault at `place`.
    func isValid(in use: HeldVaults.Use, _ place: VaultPlace) -> Bool {
        self.place == place && unlocking == use.unlocking && end.timeRemaining > .zero
    }
}

/// An entry whose codes a client shows, after one presence check.
struct ShownEntry {
    let place: VaultPlace
    let id: RecordID
    /// The unlocking of the vault in which presence was checked.
    let unlocking: UInt64
    /// The access control and the last edit at that time; after a change, presence is checked
    /// again.
    let access: AccessControl
    let edited: EntryEdit
    /// The number of the credential, which is held with the vault.
    let credential: UInt64
}

/// The use of an entry by a client; contains no key.
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
/// Saving the record takes milliseconds. If a client asks for one code after another, their uses
/// are therefore saved together when the client pauses.
struct UnrecordedUses {
    private var uses: [RecordedUse] = []
    /// The latest use of each entry; all entries are in the same vault.
    private var latest: UsedEntry?
    private var deadline: Moment?
    /// The time of the last use of any entry.
    private var last: (place: VaultPlace, id: RecordID, end: Moment)?

    /// The time without a request after which a client counts as paused.
    private static let pause = Duration.milliseconds(20)
    /// How long to wait for a pause before the uses are saved anyway.
    private static let longestWait = Duration.milliseconds(500)
    /// Another use of the same entry within this time is not recorded.
    private static let repetition = Duration.seconds(60)

    /// The pause after which the uses are recorded; `nil` if there are no uses.
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
