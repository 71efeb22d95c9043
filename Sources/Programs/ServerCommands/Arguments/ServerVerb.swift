import CommandLineInterface
import HTTPListener
import VerificationService

/// A command of `watchword-server`.
struct ServerVerb: ProgramVerb {
    typealias Function =
        @MainActor @Sendable (ServerSession) async throws -> ExitCode

    /// Every command: its name, the function that runs it, its operands, and its options.
    ///
    /// Help/Help.txt has a section for each.
    static let allCases: [ServerVerb] = [
        ServerVerb("serve", Serve.run) { serving + [.testClock] },
        ServerVerb("init", InitCommand.run) {
            [.settings, .client, .scope, .subjects, .quiet, .json] + serving
        },
        ServerVerb("status", StatusCommand.run) {
            [.store, .keys, .opsListen, .noClockCheck, .json]
        },
        ServerVerb("client add", ClientCommand.add, .one("NAME")) {
            [.store, .keys, .scope, .subjects, .json]
        },
        ServerVerb("client list", ClientCommand.list) { [.store, .keys, .json] },
        ServerVerb("client renew", ClientCommand.renew, .one("CLIENT")) { [.store, .keys, .json] },
        ServerVerb("client revoke", ClientCommand.revoke, .one("CLIENT")) {
            [.store, .keys, .json]
        },
        ServerVerb("subject list", SubjectCommand.list) { helpDesk + [.subjects, .json] },
        ServerVerb("subject show", SubjectCommand.show, .one("NAME")) { helpDesk + [.json] },
        ServerVerb("subject unlock", SubjectCommand.unlock, .one("NAME")) { helpDesk + [.json] },
        ServerVerb("subject revoke", SubjectCommand.revoke, .one("NAME")) {
            helpDesk + [.credential, .json]
        },
        ServerVerb("subject enrol", SubjectEnrolment.run, .one("NAME")) {
            helpDesk + [.issuer, .recovery, .ticket, .json]
        },
        ServerVerb("events", EventsCommand.run) { helpDesk + [.subject, .since, .json] },
        ServerVerb("import", ImportCommand.run, .optionalFile) {
            [
                .store, .keys, .pam, .realm, .subject, .allowShortKeys, .exportPasswordFile,
                .dryRun, .json,
            ]
        },
        ServerVerb("keys list", KeysCommand.list) { [.store, .keys, .credentials, .json] },
        ServerVerb("keys rotate", KeysCommand.rotate) { [.store, .keys, .json] },
        ServerVerb("keys retire", KeysCommand.retire) { [.store, .keys, .json] },
        ServerVerb("audit verify", AuditVerifyCommand.run) { [.store, .keys, .checkpoint, .json] },
        ServerVerb("audit ended", AuditEndedCommand.write) { [.store] },
        ServerVerb("audit follow", AuditFollowCommand.run, .file) {
            [.store, .keys, .journal, .output]
        },
        ServerVerb("backup", BackupCommand.backup, .file) { [.store, .keys] },
        ServerVerb("restore", BackupCommand.restore, .optionalFile) {
            [.store, .keys, .ended, .keepClients, .clockIsRight]
        },
        ServerVerb("openapi", ManualCommand.openapi),
        ServerVerb(
            "completions", ManualCommand.completions,
            .word(CompletionScript.Shell.allCases.map(\.rawValue))),
        ServerVerb("manual", ManualCommand.manual),
    ]

    /// The options of `serve`, which `init` can write to the settings.
    static let serving: [Option] = [
        .store, .keys, .listen, .opsListen, .tlsCertificate, .tlsKey, .insecureHTTP, .profile,
        .guessBound, .foreignSecrets, .addressRate, .trustedProxy, .noClockCheck, .keepEvents,
        .realm, .pamSocket, .selfSocket, .enrolSocket, .presenceSocket, .noticeSocket,
        .relyingParty, .relyingPartyName, .origin, .relatedOrigin, .topOrigin, .attestationRoots,
        .authenticators, .passkeyAlgorithms, .passkeyFloor, .pages, .returnTo, .audience, .tpmRoots,
    ]

    /// The options that determine where a help desk's command works: on the store, or over the API
    /// of a server.
    private static var helpDesk: [Option] { [.store, .keys, .server, .apiKeyFile, .caFile] }

    let entry: VerbEntry
    let run: Function

    private init(
        _ name: String, _ run: @escaping Function, _ operands: Operands = .none,
        options: @escaping @Sendable () -> [Option] = { [] }
    ) {
        entry = VerbEntry(name, operands, options: options)
        self.run = run
    }

    static let program = "watchword-server"
    static let global: [Option] = [.help, .version]

    static func check(_ arguments: ServerArguments) throws(UsageError) {
        guard !arguments.operands.contains("") else {
            throw .missingOperand(arguments.entry.operands.placeholder)
        }
    }
}

typealias ServerArguments = ParsedArguments

extension ServerVerb {
    /// The help and the manual, with the numbers in them.
    static var documents: ProgramDocuments {
        let rate = AddressRate.standard
        let limits = ListenerLimits()
        return ProgramDocuments(
            help: PackageResources.Help_txt, manual: PackageResources.Manual_mdoc,
            values: [
                "addressRate": "\(rate.perSecond),\(rate.burst)",
                "connections": thousands(limits.connections),
                "connectionsPerAddress": "\(limits.connectionsPerAddress)",
                "eventDays": "\(ServingSettings.standardEventDays)",
                "listen": ListenAddress.service.text,
                "opsListen": ListenAddress.operations.text,
            ])
    }

    /// A number of 1,000 or more, with its comma.
    private static func thousands(_ number: Int) -> String {
        "\(number / 1000),\("\(1000 + number % 1000)".dropFirst())"
    }
}

/// `completions`, `manual` and `openapi`.
enum ManualCommand {
    static func completions(_ session: ServerSession) throws -> ExitCode {
        try session.printer.line(
            CompletionScript.of(session.operand, program: ServerVerb.program))
        return .done
    }

    static func manual(_ session: ServerSession) throws -> ExitCode {
        try session.printer.line(ManualPage<ServerVerb>.text)
        return .done
    }

    static func openapi(_ session: ServerSession) throws -> ExitCode {
        try session.printer.line(Service.interfaceDescription())
        return .done
    }
}
