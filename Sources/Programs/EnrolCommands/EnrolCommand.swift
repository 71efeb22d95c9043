import CommandLineInterface
import LocalEnrolment
import QRDrawing
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// The commands, each of which is a task for the server.
enum EnrolCommand {
    static func add(_ session: EnrolSession) throws -> ExitCode {
        // The ticket already contains the authenticator's name, which the administrator chose.
        try session.arguments.forbid(.ticket, .name)
        let name = session.arguments[.name] ?? ""
        guard name.utf8.count <= EnrolmentTask.longestName else {
            throw UsageError.badValue(
                "name", expected: "at most \(EnrolmentTask.longestName) bytes")
        }
        try perform(session.arguments.has(.ticket) ? .addWithTicket : .add(name: name), session)
        session.printer.note("The authenticator is enrolled.")
        return .done
    }

    static func list(_ session: EnrolSession) throws -> ExitCode {
        try perform(.list, session)
        return .done
    }

    static func remove(_ session: EnrolSession) throws -> ExitCode {
        try perform(.remove(session.operand), session)
        session.printer.note("The credential is removed.")
        return .done
    }

    static func recoveryCodes(_ session: EnrolSession) throws -> ExitCode {
        try perform(.recoveryCodes, session)
        return .done
    }

    private static func perform(_ task: EnrolmentTask, _ session: EnrolSession) throws {
        let conversation = try ServerConversation(session.arguments[.socket])
        try conversation.perform(task) { result in
            switch result {
            case .credentials(let credentials): try print(credentials, session)
            case .key(let uri): try print(key: uri, session)
            case .recoveryCodes(let codes):
                session.printer.warnIfOthersCanRead()
                session.printer.note(
                    "Recovery codes, each of which is accepted once. They are not shown again: write them "
                        + "down, and keep them in a safe place.")
                for code in codes { try session.printer.line(code) }
            }
        }
    }

    private static func print(key uri: SecretBytes, _ session: EnrolSession) throws {
        let printer = session.printer
        printer.warnIfOthersCanRead()
        if printer.outputIsTerminal {
            do {
                let symbol = try uri.withBytes { try Symbol(encoding: $0, correction: .low) }
                try printer.bytes(symbol.terminal().span)
                printer.note(
                    "Scan the QR code with an authenticator app, or enter this key URI there:")
            } catch let error as QRDrawingError {
                printer.warn(EnrolMessages.sentence(for: error))
            }
        }
        try printer.line(uri)
    }

    private static func print(
        _ credentials: [OwnCredential], _ session: EnrolSession
    ) throws {
        for credential in credentials {
            if session.arguments.has(.json) {
                try session.printer.line(.object(credential.members))
            } else {
                try session.printer.line(credential.line.visibleOnTerminal)
            }
        }
        if credentials.isEmpty, !session.arguments.has(.json) {
            session.printer.note("You have no authenticator yet; watchword-enrol add adds one.")
        }
    }
}

extension OwnCredential {
    /// The members of a JSON object, as in the API.
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("id", .text(id)), ("type", .text(kind)), ("state", .text(state)),
            ("name", .text(name)), ("created_at", .text(createdAt)),
        ]
        if let lastUsedAt { members.append(("last_used_at", .text(lastUsedAt))) }
        if let remaining { members.append(("remaining", .number(Int64(remaining)))) }
        return members
    }

    fileprivate var line: String {
        let facts = [
            kind, state, name.isEmpty ? nil : "“\(name)”", "added \(createdAt)",
            lastUsedAt.map { "last used \($0)" }, remaining.map { "\($0) codes left" },
        ]
        return "\(id): " + facts.compactMap { $0 }.joined(separator: ", ")
    }
}
