import Arguments
import CommandRunner

/// A command of `watchword`.
struct Verb: ProgramVerb {
    typealias Function = @Sendable (Session) throws(CommandFailure) -> ExitCode

    /// Every command: its name, its help page, and the function that runs it.
    static let allCases: [Verb] = [
        Verb("init", .initialize, MakeVault.run),
        Verb("add", .add, AddEntry.run),
        Verb("import", .importing, ImportFiles.run),
        Verb("code", .code, ShowCode.run),
        Verb("watch", .watch, WatchCodes.run),
        Verb("list", .list, ListEntries.run),
        Verb("show", .show, ShowEntry.run),
        Verb("edit", .edit, EditEntry.run),
        Verb("rename", .rename, ChangeEntry.rename),
        Verb("remove", .remove, ChangeEntry.remove),
        Verb("export", .export, ExportEntries.run),
        Verb("passphrase", .passphrase, ManageSlots.changePassphrase),
        Verb("rekey", .rekey, ManageSlots.rekey),
        Verb("slot list", .slotList, ManageSlots.list),
        Verb("slot add", .slotAdd, ManageSlots.add),
        Verb("slot remove", .slotRemove, ManageSlots.remove),
        Verb("check", .check, CheckVault.run),
        Verb("login enrol", .loginEnrol, EnrolDevice.run),
        Verb("login present", .loginPresent, PresentSecret.run),
        Verb("login status", .loginStatus, LoginFacts.status),
        Verb("login wipe", .loginWipe, LoginFacts.wipe),
        Verb("totp", .totp, PlainCode.timeBased),
        Verb("hotp", .hotp, PlainCode.counterBased),
        Verb("verify", .verify, VerifyCode.run),
        Verb("qr read", .qrRead, ReadSymbols.run),
        Verb("qr write", .qrWrite, DrawSymbol.run),
        Verb("completions", .completions, PrintPages.completions),
        Verb("manual", .manual, PrintPages.manual),
    ]

    let name: String
    let run: Function
    private let makePage: @Sendable () -> Page

    private init(
        _ name: String, _ page: @autoclosure @escaping @Sendable () -> Page,
        _ run: @escaping Function
    ) {
        self.name = name
        makePage = page
        self.run = run
    }

    var page: Page { makePage() }

    static let program = "watchword"
    static let global = Option.global

    static func check(_ arguments: ParsedArguments) throws(UsageError) {
        let first = arguments.page.operands.firstName
        let hasBlankName = arguments.operands.enumerated().contains { position, operand in
            position >= first && EntryName.isBlank(operand)
        }
        guard !hasBlankName else { throw .emptyName }
        try arguments.checkStandardInput()
    }
}

typealias ArgumentParser = Arguments.ArgumentParser<Verb>
typealias HelpPage = Arguments.HelpPage<Verb>
typealias ManualPage = Arguments.ManualPage<Verb>
typealias CompletionScript = Arguments.CompletionScript<Verb>

extension ParsedArguments {
    /// Refuses two options that both read standard input or both write to standard output.
    fileprivate func checkStandardInput() throws(UsageError) {
        let streams = given.filter { $0.value == "-" && $0.option.value == .file }.map(\.option)
        guard streams.count > 1 else { return }
        let writers = streams.filter { [.png, .svg, .qrPNG].contains($0) }
        if streams.count - writers.count > 1 { throw .twoReadersOfStandardInput }
        if writers.count > 1 { throw .conflict(Option.png.name + " -", Option.svg.name + " -") }
    }
}
