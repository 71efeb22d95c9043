internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// What a client has proved on its connection, as long as its vaults are held.
///
/// It is used by the thread of the connection.
final class ClientProofs {
    /// The entries that the client proved presence for, to refresh the codes that it shows.
    var shown: [ShownEntry] = []
    /// The entries for which the client proved presence, for its next edit.
    var confirmed: [(check: ConfirmedEntry, proof: ClientProof)] = []
    /// The further proofs of what opens a vault, which showing secrets, codes of the future, and
    /// changing which codes a key gives require.
    var repeated: [ClientProof] = []
    /// The use of an entry, until the client has received the response.
    var use: UsedEntry?

    /// The number of entries in ``confirmed``; an import replaces no more after checks.
    static let mostConfirmed = 1000

    /// Forgets entries that the client showed.
    func forgetShown(in vaults: HeldVaults, where isOver: (ShownEntry) -> Bool) {
        for entry in shown where isOver(entry) {
            vaults.forgetCredential(entry.credential, of: entry.place)
        }
        shown.removeAll(where: isOver)
    }
}

/// A proof on a connection, which counts for some time and until the vault is locked.
struct ClientProof {
    let place: VaultPlace
    /// The unlocking of the vault at that time.
    let unlocking: UInt64
    let end: Moment

    /// How long a proof counts: an import or an export may ask for further checks and for a password
    /// in the meantime.
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
    /// The access control and the last edit at that time; after a change, presence is checked again.
    let access: AccessControl
    let edited: EntryEdit
    /// The number of the credential, which is held with the vault.
    let credential: UInt64
}
