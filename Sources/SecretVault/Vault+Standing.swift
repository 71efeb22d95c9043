/// What the file of a vault shows of its gate without a key: what failures have cost, and what more
/// of them will.
public struct VaultStanding: Hashable, Sendable {
    /// What is counted against the vault.
    public let lockOut: LockOut
    /// How many records were wiped for failures since the moment that was asked for.
    public let wiped: Int
    /// How many failures more make the vault wait; 0 when each further one does.
    public let failuresToWait: Int
    /// How many failures more wipe a record; `nil` when none is wiped for failures.
    public let failuresToWipe: Int?
}

extension Vault {
    /// What failures at the vault's door have cost since `began` (Unix seconds), to be told to whom failed.
    public static func standing(at path: String, since began: Int64, reading: ClockReading = .now())
        throws(VaultError) -> VaultStanding
    {
        let location = try VaultLocation(path)
        let document = try VaultDocument(parsing: location.read())
        let attempts = try Attempts.read(location, of: document.vaultID)
        var wiped = 0
        var failuresToWipe: Int?
        for (line, body) in zip(document.records, document.bodies) {
            switch body {
            case .tombstone(let tombstone):
                // Of those of the same second, an earlier failure has wiped who allows fewer.
                guard case .wipe(let limit) = line.accessControl.onFailure,
                    tombstone.reason == .failures, tombstone.time >= began,
                    UInt64(limit.value) >= attempts.refusals[document.slotsDigest] ?? 0
                else { continue }
                wiped += 1
            case .sealed:
                guard let left = attempts.failuresToWipe(line, by: document.slotsDigest)
                else { continue }
                failuresToWipe = min(failuresToWipe ?? left, left)
            }
        }
        let lockOut = LockOut(attempts.vault, at: reading)
        return VaultStanding(
            lockOut: lockOut, wiped: wiped,
            failuresToWait: max(Int(Failures.free) - Int(clamping: lockOut.failures), 0),
            failuresToWipe: failuresToWipe)
    }
}

extension Attempts {
    /// How many more failures wipe this record; `nil` for one that is not wiped for them.
    fileprivate func failuresToWipe(_ line: RecordLine, by slots: SlotsDigest) -> Int? {
        guard case .wipe(let limit) = line.accessControl.onFailure else { return nil }
        return max(limit.value - Int(clamping: refusals(of: line, by: slots)), 1)
    }
}
