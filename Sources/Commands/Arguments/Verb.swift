import Arguments
import CommandRunner

/// A command of `watchword`.
struct Verb: ProgramVerb {
    typealias Function = @Sendable (Session) throws(CommandFailure) -> ExitCode

    /// Every command: its name, its help page, and the function that runs it.
    static let allCases: [Verb] = [
        Verb("init", .initialize, InitCommand.run),
        Verb("add", .add, AddCommand.run),
        Verb("import", .importing, ImportCommand.run),
        Verb("code", .code, CodeCommand.run),
        Verb("watch", .watch, WatchCommand.run),
        Verb("list", .list, ListCommand.run),
        Verb("show", .show, ShowCommand.run),
        Verb("edit", .edit, EditCommand.run),
        Verb("rename", .rename, RenameCommand.rename),
        Verb("remove", .remove, RenameCommand.remove),
        Verb("export", .export, ExportCommand.run),
        Verb("passphrase", .passphrase, SlotCommand.changePassphrase),
        Verb("rekey", .rekey, SlotCommand.rekey),
        Verb("slot list", .slotList, SlotCommand.list),
        Verb("slot add", .slotAdd, SlotCommand.add),
        Verb("slot remove", .slotRemove, SlotCommand.remove),
        Verb("check", .check, CheckCommand.run),
        Verb("login enrol", .loginEnrol, LoginEnrolCommand.run),
        Verb("login present", .loginPresent, LoginPresentCommand.run),
        Verb("login status", .loginStatus, LoginStatusCommand.status),
        Verb("login wipe", .loginWipe, LoginStatusCommand.wipe),
        Verb("totp", .totp, TOTPCommand.timeBased),
        Verb("hotp", .hotp, TOTPCommand.counterBased),
        Verb("verify", .verify, VerifyCommand.run),
        Verb("qr read", .qrRead, QRReadCommand.run),
        Verb("qr write", .qrWrite, QRWriteCommand.run),
        Verb("completions", .completions, ManualCommand.completions),
        Verb("manual", .manual, ManualCommand.manual),
    ]

    let name: String
    let run: Function
    private let makePage: @Sendable () -> CommandHelp

    private init(
        _ name: String, _ page: @autoclosure @escaping @Sendable () -> CommandHelp,
        _ run: @escaping Function
    ) {
        self.name = name
        makePage = page
        self.run = run
    }

    var page: CommandHelp { makePage() }

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
