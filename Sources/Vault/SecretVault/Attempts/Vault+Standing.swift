/// The consequences of past failures for a vault, and of further ones; readable without a key.
public struct VaultStatus: Hashable, Sendable {
    /// The failures that are counted against the vault, and the wait.
    public let lockOut: LockOut
    /// How many records were wiped after failures since the given time.
    public let wiped: Int
    /// How many more failures lock the vault; 0 if it has been locked before, so that every further
    /// failure locks it again.
    public let failuresUntilLockOut: Int
    /// How many more failures wipe a record; `nil` if no record is set to be wiped.
    public let failuresUntilWipe: Int?
    /// Whether the file has other slots than when it was last opened or saved here.
    ///
    /// Another passphrase may then open it, and failures wipe nothing.
    public var hasOtherSlots = false
}

extension Vault {
    /// The consequences of failures since `began` (Unix seconds), to report after a failed attempt.
    public static func status(at path: String, since began: Int64, reading: ClockReading = .now())
        throws(VaultError) -> VaultStatus
    {
        let location = try VaultLocation(path)
        let document = try VaultDocument(parsing: location.read())
        let attempts = try Attempts.read(location, of: document.vaultID)
        let known = SlotsRecord.read(of: location, vaultID: document.vaultID)
        let hasOtherSlots = known ?? document.slotsDigest != document.slotsDigest
        var wiped = 0
        var failuresUntilWipe: Int?
        for (line, body) in zip(document.records, document.bodies) {
            switch body {
            case .tombstone(let tombstone):
                // Records that allow fewer failures may have been wiped by an earlier attempt in
                // the same second. Those that allow more were not wiped here: anybody can write a
                // tombstone.
                guard case .wipe(let limit) = line.accessControl.onFailure,
                    tombstone.reason == .failures, tombstone.time >= began,
                    UInt64(limit.value) >= attempts.refusals[document.slotsDigest] ?? 0,
                    attempts.isDue(line, by: document.slotsDigest)
                else { continue }
                wiped += 1
            case .sealed:
                guard !hasOtherSlots,
                    let left = attempts.failuresUntilWipe(line, by: document.slotsDigest)
                else { continue }
                failuresUntilWipe = min(failuresUntilWipe ?? left, left)
            }
        }
        let lockOut = LockOut(attempts.vault, at: reading)
        return VaultStatus(
            lockOut: lockOut, wiped: wiped,
            failuresUntilLockOut: max(Int(Failures.free) - Int(clamping: lockOut.failures), 0),
            failuresUntilWipe: failuresUntilWipe, hasOtherSlots: hasOtherSlots)
    }
}

extension Attempts {
    /// How many more failures wipe this record; `nil` if it is not set to be wiped.
    fileprivate func failuresUntilWipe(_ line: RecordLine, by slots: SlotsDigest) -> Int? {
        guard case .wipe(let limit) = line.accessControl.onFailure else { return nil }
        return max(limit.value - Int(clamping: refusals(of: line, by: slots)), 1)
    }
}
