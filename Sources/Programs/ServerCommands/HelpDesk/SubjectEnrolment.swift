import CommandLineInterface
import Courier
import QRDrawing
import Verification
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `subject enrol`: a new key for a subject's authenticator, a ticket for one, or recovery codes.
enum SubjectEnrolment {
    private static let attempts = 3
    private static let longestCode = 64

    /// The item that the subject gets.
    private enum Product { case key, ticket, recoveryCodes }

    static func run(_ session: ServerSession) async throws -> ExitCode {
        let product = try product(session.arguments)
        let path = HelpDesk.path(of: try session.subject(), "credentials")
        let body = try body(for: product, session)
        let desk = try HelpDesk(session.arguments)
        defer { desk.close() }
        // Without a terminal, nobody can enter the first code here.
        let terminal = product == .key && !session.wantsJSON ? try EnrolmentTerminal() : nil
        guard let made = try await desk.ask(.post, path, body) else {
            throw ServerFailure.badResponse
        }
        session.printer.warnIfOthersCanRead()
        guard !session.wantsJSON else {
            try session.printer.line(made)
            return .done
        }
        switch product {
        case .recoveryCodes:
            guard let codes = made["codes"]?.elements else { throw ServerFailure.badResponse }
            for code in codes.compactMap(\.secretText) { try session.printer.line(code) }
        case .ticket:
            guard let ticket = made["ticket"]?.secretText else { throw ServerFailure.badResponse }
            try session.printer.line(ticket)
            session.printer.note(ServerMessages.ticket)
        case .key:
            guard let terminal else { break }
            try await confirm(made, terminal, session, desk)
        }
        return .done
    }

    private static func product(_ arguments: ServerArguments) throws(UsageError) -> Product {
        try arguments.forbid(.recovery, .ticket)
        try arguments.forbid(.recovery, .issuer)
        if arguments.has(.recovery) { return .recoveryCodes }
        return arguments.has(.ticket) ? .ticket : .key
    }

    private static func body(
        for product: Product, _ session: ServerSession
    ) throws(UsageError) -> JSONValue {
        switch product {
        case .recoveryCodes: ["type": "recovery"]
        case .key: .object(try labels(session) + [("type", .text("totp"))])
        case .ticket:
            .object(try labels(session) + [("type", .text("totp")), ("via", .text("ticket"))])
        }
    }

    /// The issuer and the account that the authenticator shows: the last part of the subject, and
    /// the part before it unless `--issuer` specifies a different issuer.
    private static func labels(
        _ session: ServerSession
    ) throws(UsageError) -> [(String, JSONValue)] {
        let parts = session.operand.split { "/:".contains($0) }.map(String.init)
        let most = OneTimePasswordEnrolment.maximumTextCount
        let issuer = try session.arguments.value(
            .issuer, expected: "text of 1 to \(most) bytes"
        ) { text in (1...most).contains(text.utf8.count) ? text : nil }
        return [
            ("issuer", .text(issuer ?? parts.dropLast().last ?? "Watchword")),
            ("account", .text(parts.last ?? session.operand)),
        ]
    }

    /// Shows the key, and asks for its first code.
    private static func confirm(
        _ made: JSONValue, _ terminal: EnrolmentTerminal, _ session: ServerSession,
        _ desk: HelpDesk
    ) async throws {
        guard let uri = made["uri"]?.secretText, let id = made["credential"]?.string else {
            throw ServerFailure.badResponse
        }
        let symbol = try uri.withBytes { uri in try Symbol(encoding: uri, correction: .low) }
        try session.printer.bytes(symbol.terminal().span)
        try session.printer.line(uri)
        for _ in 0..<attempts {
            let code = try terminal.code(limit: longestCode)
            let isCode = ifPossible(try PresentedCode(code)) != nil
            let result =
                isCode
                ? try await desk.ask(
                    .post, "/v1/credentials/\(id)/confirm", ["code": .secret(code)]) : nil
            if result?["result"]?.string == "accepted" {
                return session.printer.note(ServerMessages.enrolled)
            }
            session.printer.complain(ServerMessages.wrongCode)
        }
        throw ServerFailure.notConfirmed
    }
}

/// The terminal at which the first code is entered.
final class EnrolmentTerminal {
    private let terminal: Terminal

    init() throws {
        terminal = try naming(Terminal()) { .terminal($0) }
    }

    func code(limit: Int) throws -> SecretBytes {
        let prompt = Terminal.Prompt(ServerMessages.codePrompt, isEchoed: true)
        return try SecretBytes(capacity: limit) { output in
            do throws(TerminalError) { try terminal.ask(prompt, into: &output) } catch {
                throw ServerFailure.terminal(error)
            }
        }
    }
}
