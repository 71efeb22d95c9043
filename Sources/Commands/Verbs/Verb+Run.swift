import CommandRunner

extension Verb {
    /// Runs the command.
    func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        switch self {
        case .initialize: try MakeVault.run(session)
        case .code: try ShowCode.run(session)
        case .watch: try WatchCodes.run(session)
        case .list: try ListEntries.run(session)
        case .show: try ShowEntry.run(session)
        case .edit: try EditEntry.run(session)
        case .rename: try ChangeEntry.rename(session)
        case .remove: try ChangeEntry.remove(session)
        case .export: try ExportEntries.run(session)
        case .passphrase: try ManageSlots.changePassphrase(session)
        case .rekey: try ManageSlots.rekey(session)
        case .slotList: try ManageSlots.list(session)
        case .slotAdd: try ManageSlots.add(session)
        case .slotRemove: try ManageSlots.remove(session)
        case .check: try CheckVault.run(session)
        case .loginEnrol: try EnrolDevice.run(session)
        case .loginPresent: try PresentSecret.run(session)
        case .loginStatus: try LoginFacts.status(session)
        case .loginWipe: try LoginFacts.wipe(session)
        case .totp: try PlainCode.timeBased(session)
        case .hotp: try PlainCode.counterBased(session)
        case .verify: try VerifyCode.run(session)
        case .qrWrite: try DrawSymbol.run(session)
        case .completions: try PrintPages.completions(session)
        case .manual: try PrintPages.manual(session)
        case .add: try AddEntry.run(session)
        case .importing: try ImportFiles.run(session)
        case .qrRead: try ReadSymbols.run(session)
        }
    }
}
