import Arguments
import CommandRunner

/// A command of `watchword-server`.
struct ServerVerb: ProgramVerb {
    typealias Function =
        @MainActor @Sendable (ServerSession) async throws(ServerFailure) -> ExitCode

    /// Every command: its name, its help page, and the function that runs it.
    static let allCases: [ServerVerb] = [
        ServerVerb("serve", .serve, Serve.run),
        ServerVerb("client add", .clientAdd, ManageClients.add),
        ServerVerb("client list", .clientList, ManageClients.list),
        ServerVerb("client renew", .clientRenew, ManageClients.renew),
        ServerVerb("client revoke", .clientRevoke, ManageClients.revoke),
        ServerVerb("keys list", .keysList, ManageKeys.list),
        ServerVerb("keys rotate", .keysRotate, ManageKeys.rotate),
        ServerVerb("keys retire", .keysRetire, ManageKeys.retire),
        ServerVerb("audit verify", .auditVerify, VerifyAudit.run),
        ServerVerb("audit ended", .auditEnded, EndedList.write),
        ServerVerb("backup", .backup, CopyDatabase.backup),
        ServerVerb("restore", .restore, CopyDatabase.restore),
        ServerVerb("openapi", .openapi, PrintPages.openapi),
        ServerVerb("completions", .completions, PrintPages.completions),
        ServerVerb("manual", .manual, PrintPages.manual),
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

    static let program = "watchword-server"
    static let global: [Option] = [.help, .version]

    static func check(_ arguments: ServerArguments) throws(UsageError) {
        guard !arguments.operands.contains("") else {
            throw .missingOperand(arguments.page.operands.placeholder)
        }
    }
}

typealias ServerArguments = ParsedArguments
