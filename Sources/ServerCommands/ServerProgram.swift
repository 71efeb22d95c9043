import Arguments
import POSIX
import VerificationService

/// The program `watchword-server`.
public enum ServerProgram {
    /// The version that `--version` prints.
    static let version = "0.1.0"

    /// Runs the program with the process's arguments and exits.
    @MainActor public static func main() async -> Never {
        do {
            // This comes first, before any secret is read.
            try ProcessHardening.apply()
            try StandardStream.fillGaps()
        } catch {
            ServerPrinter.complain(ServerWords.sentence(for: ServerFailure.system(error)))
            ProcessEnd.exit(with: ServerExit.system.rawValue)
        }
        do throws(ServerFailure) {
            ProcessEnd.exit(with: try await run(Array(CommandLine.arguments.dropFirst())).rawValue)
        } catch {
            ServerPrinter.complain(ServerWords.sentence(for: error))
            ProcessEnd.exit(with: ServerExit(error).rawValue)
        }
    }

    @MainActor private static func run(_ arguments: [String]) async throws(ServerFailure)
        -> ServerExit
    {
        let request: ArgumentParser<ServerVerb>.Request
        do throws(UsageError) {
            guard ProgramArguments.areUTF8 else { throw .notUTF8 }
            request = try ArgumentParser<ServerVerb>.parse(
                arguments, environment: { Environment.value($0) })
        } catch {
            throw .usage(error)
        }
        switch request {
        case .version: try ServerPrinter.line("watchword-server \(version)")
        case .help(let verb):
            try ServerPrinter.line(
                verb.map(HelpPage<ServerVerb>.of) ?? HelpPage<ServerVerb>.ofProgram())
        case .run(let verb, let arguments): return try await run(verb, arguments)
        }
        return .done
    }

    @MainActor private static func run(_ verb: ServerVerb, _ arguments: ServerArguments)
        async throws(ServerFailure) -> ServerExit
    {
        let operand = arguments.operands.first ?? ""
        switch verb {
        case .serve:
            let log = ServerLog()
            do throws(ServerFailure) { try await Serve.run(arguments, log: log) } catch {
                await log.close()
                throw error
            }
            await log.close()
        case .clientAdd: try await ManageClients.add(arguments, operand)
        case .clientList: try await ManageClients.list(arguments)
        case .clientRenew: try await ManageClients.renew(arguments, operand)
        case .clientRevoke: try await ManageClients.revoke(arguments, operand)
        case .keysList: try await ManageKeys.list(arguments)
        case .keysRotate: try await ManageKeys.rotate(arguments)
        case .keysRetire: try await ManageKeys.retire(arguments)
        case .auditVerify: return try VerifyAudit.run(arguments)
        case .auditEnded: return try EndedList.write(arguments)
        case .backup: try CopyDatabase.backup(arguments, to: operand)
        case .restore: try await CopyDatabase.restore(arguments, from: operand)
        case .completions:
            guard let shell = CompletionScript<ServerVerb>.Shell(rawValue: operand) else {
                let shells = CompletionScript<ServerVerb>.Shell.allCases.map(\.rawValue)
                throw .usage(.needsOneOf(shells))
            }
            try ServerPrinter.line(CompletionScript<ServerVerb>.of(shell))
        case .manual: try ServerPrinter.line(ManualPage<ServerVerb>.text)
        case .openapi: try ServerPrinter.line(Service.interfaceDescription())
        }
        return .done
    }
}
