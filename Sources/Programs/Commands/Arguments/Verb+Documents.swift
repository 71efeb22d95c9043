import CommandLineInterface
import Exports
import Pictures
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

extension Verb {
    /// The help and the manual, with the numbers in them.
    static var documents: ProgramDocuments {
        let (limits, raised) = (ExportLimits.standard, ExportLimits.raised)
        let waits = LockOut.minutes.map { "\($0)" }
        return ProgramDocuments(
            help: PackageResources.Help_txt, manual: PackageResources.Manual_mdoc,
            values: [
                "clipboardSeconds": "\(CodeCopy.longest)",
                "codesAhead": "\(CodeComparison.widestAhead)",
                "exportMemory": "\(limits.memory >> 30)",
                "exportMinutes": "\(limits.time.wholeSeconds / 60)",
                "exportSize": "\(limits.bytes >> 20)",
                "firstWait": Messages.firstWait,
                "frames": "\(ImageLimits.standard.frames)",
                "heldHours": "\(HoldingTime.standard.total.wholeSeconds / 3600)",
                "idleMinutes": "\(HoldingTime.standard.idle.wholeSeconds / 60)",
                "laterWaits": Messages.laterWaits,
                "listMinutes": "\(Session.idleLimit.wholeSeconds / 60)",
                "listedItems": "\(ImportReport.mostListed)",
                "lockOutFailures": "\(LockOut.firstFailure)",
                "lockOutWaits":
                    waits.dropLast().joined(separator: ", ") + ", then " + waits[waits.count - 1],
                "raisedMemory": "\(raised.memory >> 30)",
                "raisedSize": "\(raised.bytes >> 20)",
                "recordedSaves": "\(Vault.recordedSaveCount)",
                "reuseTimes": "\(ReuseTime.range.lowerBound) to \(ReuseTime.range.upperBound)",
                "scryptCost": "\(ScryptCost.standard.logN)",
                "unlockCost": "\(Vault.defaultCeiling)",
                "wipeFailures": "\(AccessControl.OnFailure.standardCount)",
            ])
    }
}
