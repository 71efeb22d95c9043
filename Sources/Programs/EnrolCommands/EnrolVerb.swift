import CommandLineInterface

/// A command of `watchword-enrol`.
struct EnrolVerb: ProgramVerb {
    typealias Function = @Sendable (EnrolSession) throws -> ExitCode

    /// Every command: its name, the function that runs it, its operands, and its options.
    ///
    /// Help/Help.txt has a section for each.
    static let allCases: [EnrolVerb] = [
        EnrolVerb("add", EnrolCommand.add) { [.name, .ticket, .socket] },
        EnrolVerb("list", EnrolCommand.list) { [.socket, .json] },
        EnrolVerb("remove", EnrolCommand.remove, .one("ID")) { [.socket] },
        EnrolVerb("recovery-codes", EnrolCommand.recoveryCodes) { [.socket] },
        EnrolVerb(
            "completions", ManualCommand.completions,
            .word(CompletionScript.Shell.allCases.map(\.rawValue))),
        EnrolVerb("manual", ManualCommand.manual),
    ]

    let entry: VerbEntry
    let run: Function

    private init(
        _ name: String, _ run: @escaping Function, _ operands: Operands = .none,
        options: @escaping @Sendable () -> [Option] = { [] }
    ) {
        entry = VerbEntry(name, operands, options: options)
        self.run = run
    }

    static let program = "watchword-enrol"
    static let global: [Option] = [.help, .version]

    static func check(_ arguments: ParsedArguments) throws(UsageError) {
        guard !arguments.operands.contains("") else {
            throw .missingOperand(arguments.entry.operands.placeholder)
        }
    }

    /// The help and the manual.
    static var documents: ProgramDocuments {
        ProgramDocuments(
            help: PackageResources.Help_txt, manual: PackageResources.Manual_mdoc,
            values: ["socket": ServerConversation.standardPath])
    }
}

extension Option {
    static let name = Option("name", .text("TEXT"))
    static let ticket = Option("ticket")
    static let socket = Option("socket", .file)
}

/// `completions` and `manual`.
private enum ManualCommand {
    static func completions(_ session: EnrolSession) throws -> ExitCode {
        try session.printer.line(CompletionScript.of(session.operand, program: EnrolVerb.program))
        return .done
    }

    static func manual(_ session: EnrolSession) throws -> ExitCode {
        try session.printer.line(ManualPage<EnrolVerb>.text)
        return .done
    }
}
