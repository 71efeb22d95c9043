import CommandLineInterface

/// A command of `watchword-server`.
struct ServerVerb: ProgramVerb {
    typealias Function =
        @MainActor @Sendable (ServerSession) async throws(ServerFailure) -> ExitCode

    /// Every command: its name, its help page, and the function that runs it.
    static let allCases: [ServerVerb] = [
        ServerVerb(entry: .init("serve", .serve), run: Serve.run),
        ServerVerb(entry: .init("client add", .clientAdd), run: ClientCommand.add),
        ServerVerb(entry: .init("client list", .clientList), run: ClientCommand.list),
        ServerVerb(entry: .init("client renew", .clientRenew), run: ClientCommand.renew),
        ServerVerb(entry: .init("client revoke", .clientRevoke), run: ClientCommand.revoke),
        ServerVerb(entry: .init("import", .importKeys), run: ImportCommand.run),
        ServerVerb(entry: .init("keys list", .keysList), run: KeysCommand.list),
        ServerVerb(entry: .init("keys rotate", .keysRotate), run: KeysCommand.rotate),
        ServerVerb(entry: .init("keys retire", .keysRetire), run: KeysCommand.retire),
        ServerVerb(entry: .init("audit verify", .auditVerify), run: AuditVerifyCommand.run),
        ServerVerb(entry: .init("audit ended", .auditEnded), run: AuditEndedCommand.write),
        ServerVerb(entry: .init("backup", .backup), run: BackupCommand.backup),
        ServerVerb(entry: .init("restore", .restore), run: BackupCommand.restore),
        ServerVerb(entry: .init("openapi", .openapi), run: ManualCommand.openapi),
        ServerVerb(entry: .init("completions", .completions), run: ManualCommand.completions),
        ServerVerb(entry: .init("manual", .manual), run: ManualCommand.manual),
    ]

    let entry: VerbEntry
    let run: Function

    static let program = "watchword-server"
    static let global: [Option] = [.help, .version]

    static func check(_ arguments: ServerArguments) throws(UsageError) {
        guard !arguments.operands.contains("") else {
            throw .missingOperand(arguments.page.operands.placeholder)
        }
    }
}

typealias ServerArguments = ParsedArguments
