import CommandLineInterface
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `client add`, `client list`, `client renew` and `client revoke`.
enum ClientCommand {
    static func add(_ session: ServerSession) async throws -> ExitCode {
        let client = try NewClient(named: session.operand, session.arguments)
        let context = try ServerContext.open(ServerPaths(session.arguments), making: true)
        defer { context.close() }
        guard try await add(client, context, session) else { throw ServerFailure.clientNameTaken }
        return .done
    }

    /// Adds a client and prints its API key.
    ///
    /// - Returns: `false` if a different client has the name.
    static func add(
        _ client: NewClient, _ context: ServerContext, _ session: ServerSession
    ) async throws -> Bool {
        let added = try await context.verifier.addClient(
            named: client.name, scopes: client.scopes.map(\.rawValue),
            limitedTo: client.subjects)
        guard let added else { return false }
        try show(added.key, of: added.client, session)
        return true
    }

    static func renew(_ session: ServerSession) async throws -> ExitCode {
        let context = try ServerContext.open(ServerPaths(session.arguments), making: false)
        let renewal =
            if let found = find(session.operand, in: try await context.verifier.clients()) {
                try await context.verifier.renewClient(found.id)
            } else {
                ClientRenewal.unknown
            }
        context.close()
        switch renewal {
        case .renewed(let client, let key): try show(key, of: client, session)
        case .unknown: throw ServerFailure.noSuchClient
        case .revoked: throw ServerFailure.clientRevoked
        }
        return .done
    }

    static func list(_ session: ServerSession) async throws -> ExitCode {
        let context = try ServerContext.open(ServerPaths(session.arguments), making: false)
        let clients = try await context.verifier.clients()
        context.close()
        for client in clients {
            if session.wantsJSON {
                try session.printer.line(.object(facts(client)))
            } else {
                let state = client.revokedAt.map { "revoked \($0.text)" } ?? "active"
                let limit = client.subjects.map { " on \($0.text)" } ?? ""
                let words = [
                    id(client), state, client.scopes.joined(separator: ",") + limit, client.name,
                ]
                try session.printer.line(words.joined(separator: "  ").visibleOnTerminal)
            }
        }
        return .done
    }

    static func revoke(_ session: ServerSession) async throws -> ExitCode {
        let context = try ServerContext.open(ServerPaths(session.arguments), making: false)
        let outcome =
            if let found = find(session.operand, in: try await context.verifier.clients()) {
                try await context.verifier.revokeClient(found.id)
            } else {
                ChangeOutcome.unknown
            }
        context.close()
        guard outcome == .done else { throw ServerFailure.noSuchClient }
        return .done
    }

    /// The client with this id or name; of several with the same name, the active one.
    private static func find(_ client: String, in all: [ClientRow]) -> ClientRow? {
        let named = all.filter { $0.name == client }
        return all.first { id($0) == client } ?? named.first { $0.revokedAt == nil } ?? named.first
    }

    /// Prints the API key, which cannot be shown again.
    private static func show(
        _ key: Token, of client: ClientRow, _ session: ServerSession
    ) throws {
        session.printer.warnIfOthersCanRead()
        guard session.wantsJSON else {
            try session.printer.line(key.text)
            return
        }
        try session.printer.line(.object(facts(client) + [("key", .secret(key.text))]))
    }

    private static func id(_ client: ClientRow) -> String {
        "cl_" + Base64URL.encode(client.id.span)
    }

    private static func facts(_ client: ClientRow) -> [(String, JSONValue)] {
        [
            ("client", .text(id(client))), ("name", .text(client.name)),
            ("scopes", .list(client.scopes.map { .text($0) })),
            ("subjects", client.subjects.map { .text($0.text) } ?? .null),
            ("created_at", .text(client.createdAt.text)),
            ("revoked_at", client.revokedAt.map { .text($0.text) } ?? .null),
        ]
    }
}

struct NewClient {
    let name: String
    let scopes: [Scope]
    /// The only subjects that it may use; `nil` for all.
    let subjects: SubjectPrefix?

    /// Reads the options for a client.
    ///
    /// - Parameter standard: the scopes without `--scope`; empty if the option is required.
    init(
        named name: String, _ arguments: ServerArguments, standard: [Scope] = []
    ) throws {
        let all = Scope.allCases.map(\.rawValue)
        let given = try arguments.value(.scope, expected: UsageError.list(of: all)) { text in
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            let scopes = words.compactMap { Scope(rawValue: String($0)) }
            return scopes.count == words.count ? scopes : nil
        }
        scopes = given ?? standard
        guard !scopes.isEmpty else { throw UsageError.missingOption("scope", values: all) }
        // Reject names that look like an id or would be truncated.
        guard !name.hasPrefix("cl_"), name.utf8.count <= ClientRow.maximumNameCount else {
            throw ServerFailure.badClientName
        }
        self.name = name
        subjects = try arguments.value(
            .subjects, expected: "the beginning of subjects, ending in / or :", SubjectPrefix.init)
    }
}
