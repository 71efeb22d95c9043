import Arguments
import CommandRunner

/// A command of `watchword-server`.
struct ServerVerb: ProgramVerb {
    typealias Function =
        @MainActor @Sendable (ServerSession) async throws(ServerFailure) -> ExitCode

    /// Every command: its name, its help page, and the function that runs it.
    static let allCases: [ServerVerb] = [
        ServerVerb("serve", .serve, Serve.run),
        ServerVerb("client add", .clientAdd, ClientCommand.add),
        ServerVerb("client list", .clientList, ClientCommand.list),
        ServerVerb("client renew", .clientRenew, ClientCommand.renew),
        ServerVerb("client revoke", .clientRevoke, ClientCommand.revoke),
        ServerVerb("keys list", .keysList, KeysCommand.list),
        ServerVerb("keys rotate", .keysRotate, KeysCommand.rotate),
        ServerVerb("keys retire", .keysRetire, KeysCommand.retire),
        ServerVerb("audit verify", .auditVerify, AuditVerifyCommand.run),
        ServerVerb("audit ended", .auditEnded, AuditEndedCommand.write),
        ServerVerb("backup", .backup, BackupCommand.backup),
        ServerVerb("restore", .restore, BackupCommand.restore),
        ServerVerb("openapi", .openapi, ManualCommand.openapi),
        ServerVerb("completions", .completions, ManualCommand.completions),
        ServerVerb("manual", .manual, ManualCommand.manual),
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

    static let program = "watchword-server"
    static let global: [Option] = [.help, .version]

    static func check(_ arguments: ServerArguments) throws(UsageError) {
        guard !arguments.operands.contains("") else {
            throw .missingOperand(arguments.page.operands.placeholder)
        }
    }
}

typealias ServerArguments = ParsedArguments
