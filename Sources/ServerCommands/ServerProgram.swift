import CommandRunner

/// The program `watchword-server`.
public enum ServerProgram {
    /// Runs the program with the process's arguments and exits.
    @MainActor public static func main() async -> Never {
        let command = StartedCommand<ServerVerb, ServerFailure>.start()
        let session = ServerSession(arguments: command.arguments, printer: command.printer)
        do throws(ServerFailure) {
            command.finish(try await run(command.verb, session))
        } catch {
            command.fail(error)
        }
    }

    @MainActor private static func run(
        _ verb: ServerVerb, _ session: ServerSession
    ) async throws(ServerFailure) -> ExitCode {
        switch verb {
        case .serve: try await Serve.run(session)
        case .clientAdd: try await ManageClients.add(session)
        case .clientList: try await ManageClients.list(session)
        case .clientRenew: try await ManageClients.renew(session)
        case .clientRevoke: try await ManageClients.revoke(session)
        case .keysList: try await ManageKeys.list(session)
        case .keysRotate: try await ManageKeys.rotate(session)
        case .keysRetire: try await ManageKeys.retire(session)
        case .auditVerify: try VerifyAudit.run(session)
        case .auditEnded: try EndedList.write(session)
        case .backup: try CopyDatabase.backup(session)
        case .restore: try await CopyDatabase.restore(session)
        case .completions: try PrintPages.completions(session)
        case .manual: try PrintPages.manual(session)
        case .openapi: try PrintPages.openapi(session)
        }
    }
}
