import CommandLineInterface
import SecretVault

/// A command of `watchword`.
struct Verb: ProgramVerb {
    typealias Function = @Sendable (Session) throws(CommandFailure) -> ExitCode

    /// Every command: its name, its help page, and the function that runs it.
    static let allCases: [Verb] = [
        Verb(entry: .init("init", .initialize), run: InitCommand.run),
        Verb(entry: .init("add", .add), run: AddCommand.run),
        Verb(entry: .init("import", .importing), run: ImportCommand.run),
        Verb(entry: .init("code", .code), run: CodeCommand.run),
        Verb(entry: .init("pick", .pick), run: PickCommand.run),
        Verb(entry: .init("watch", .watch), run: WatchCommand.run),
        Verb(entry: .init("list", .list), run: ListCommand.run),
        Verb(entry: .init("show", .show), run: ShowCommand.run),
        Verb(entry: .init("edit", .edit), run: EditCommand.run),
        Verb(entry: .init("rename", .rename), run: RenameCommand.rename),
        Verb(entry: .init("remove", .remove), run: RenameCommand.remove),
        Verb(entry: .init("undo", .undo), run: UndoCommand.run),
        Verb(entry: .init("merge", .merge), run: MergeCommand.run),
        Verb(entry: .init("export", .export), run: ExportCommand.run),
        Verb(entry: .init("passphrase", .passphrase), run: SlotCommand.changePassphrase),
        Verb(entry: .init("rekey", .rekey), run: SlotCommand.rekey),
        Verb(entry: .init("slot list", .slotList), run: SlotCommand.list),
        Verb(entry: .init("slot add", .slotAdd), run: SlotCommand.add),
        Verb(entry: .init("slot remove", .slotRemove), run: SlotCommand.remove),
        Verb(entry: .init("check", .check), run: CheckCommand.run),
        Verb(entry: .init("vault move", .vaultMove), run: VaultMoveCommand.run),
        Verb(entry: .init("unlock", .unlock), run: UnlockCommand.run),
        Verb(entry: .init("lock", .lock), run: LockCommand.run),
        Verb(entry: .init("agent status", .agentStatus), run: AgentCommand.status),
        Verb(entry: .init("agent stop", .agentStop), run: AgentCommand.stop),
        Verb(entry: .init("login enrol", .loginEnrol), run: LoginEnrolCommand.run),
        Verb(entry: .init("login present", .loginPresent), run: LoginPresentCommand.run),
        Verb(entry: .init("login status", .loginStatus), run: LoginStatusCommand.status),
        Verb(entry: .init("login wipe", .loginWipe), run: LoginStatusCommand.wipe),
        Verb(entry: .init("key enrol", .keyEnrol), run: KeyEnrolCommand.run),
        Verb(entry: .init("key present", .keyPresent), run: KeyUseCommand.present),
        Verb(entry: .init("key confirm", .keyConfirm), run: KeyUseCommand.confirm),
        Verb(entry: .init("key status", .keyStatus), run: KeyStatusCommand.run),
        Verb(entry: .init("key wipe", .keyWipe), run: LoginStatusCommand.wipe),
        Verb(entry: .init("totp", .totp), run: TOTPCommand.timeBased),
        Verb(entry: .init("hotp", .hotp), run: TOTPCommand.counterBased),
        Verb(entry: .init("verify", .verify), run: VerifyCommand.run),
        Verb(entry: .init("qr read", .qrRead), run: QRReadCommand.run),
        Verb(entry: .init("qr write", .qrWrite), run: QRWriteCommand.run),
        Verb(entry: .init("completions", .completions), run: ManualCommand.completions),
        Verb(entry: .init("manual", .manual), run: ManualCommand.manual),
    ]

    let entry: VerbEntry
    let run: Function

    static let program = "watchword"
    static let global = Option.global

    static func check(_ arguments: ParsedArguments) throws(UsageError) {
        let first = arguments.page.operands.firstName
        for (position, operand) in arguments.operands.enumerated() where position >= first {
            guard !EntryName.isBlank(operand) else { throw .emptyName }
            if let form = SecretForm(inName: operand) { throw .secretAsOperand("NAME", form) }
        }
        if arguments.page.operands.arePaths {
            // A key cannot be told from the name of a file, but a URI can.
            let forms = arguments.operands.lazy.compactMap(SecretForm.init(inURI:))
            if let form = forms.first { throw .secretAsOperand("PATH", form) }
        }
        for option in [Option.issuer, .account] {
            // Such a name may look like a key, but a URI contains one.
            guard let form = arguments.given(option).flatMap(SecretForm.init(inURI:)) else {
                continue
            }
            throw .secretAsOperand("--\(option.name)", form)
        }
        try arguments.checkStandardInput()
    }
}

typealias ManualPage = CommandLineInterface.ManualPage<Verb>

extension ParsedArguments {
    /// Refuses two options that both read standard input or both write to standard output.
    fileprivate func checkStandardInput() throws(UsageError) {
        let streams = given.filter { $0.value == "-" && $0.option.value == .file }.map(\.option)
        let writers = streams.filter { [.png, .svg, .qrPNG, .output].contains($0) }
        var readers = streams.count - writers.count
        if given(.note) == "-" { readers += 1 }
        if page.operands.arePaths, operands.contains("-") { readers += 1 }
        if readers > 1 { throw .twoReadersOfStandardInput }
        if writers.count > 1 { throw .conflict(Option.png.name + " -", Option.svg.name + " -") }
    }
}
