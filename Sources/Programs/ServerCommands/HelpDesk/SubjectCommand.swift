import CommandLineInterface
import Courier
import Verification
import WatchwordCoding
import WatchwordSystem

/// `subject list`, `subject show`, `subject unlock` and `subject revoke`.
enum SubjectCommand {
    static func list(_ session: ServerSession) async throws -> ExitCode {
        let beginning = try session.arguments.value(
            .subjects, expected: HelpDesk.expectedSubject, Subject.init)
        let desk = try HelpDesk(session.arguments)
        defer { desk.close() }
        let query = [("prefix", beginning?.text)]
        var isEmpty = true
        try await desk.pages("/v1/subjects", query, of: "subjects") { subjects in
            isEmpty = isEmpty && subjects.isEmpty
            try session.print(subjects) { subject in
                let credentials = (subject["credentials"]?.elements ?? []).map(
                    ListedCredential.init)
                return [
                    subject.text("subject"), credentials.map(\.summary).joined(separator: ", "),
                    credentials.compactMap(\.lastUse).max().map { "used \($0)" } ?? "",
                ]
            }
        }
        return isEmpty ? .no : .done
    }

    static func show(_ session: ServerSession) async throws -> ExitCode {
        let path = HelpDesk.path(of: try session.subject(), "credentials")
        let desk = try HelpDesk(session.arguments)
        defer { desk.close() }
        var isEmpty = true
        try await desk.pages(path, of: "credentials") { credentials in
            isEmpty = isEmpty && credentials.isEmpty
            try session.print(credentials) { ListedCredential($0).row }
        }
        if isEmpty { throw ServerFailure.noSuchSubject }
        return .done
    }

    static func unlock(_ session: ServerSession) async throws -> ExitCode {
        let subject = try session.subject()
        let desk = try HelpDesk(session.arguments)
        defer { desk.close() }
        let credentials = try await current(subject, desk)
        let waiting = credentials.filter(\.isWaiting)
        for credential in waiting {
            _ = try await desk.ask(.post, credential.path + "/unlock")
            try report("unlocked", credential, session)
        }
        for credential in credentials where credential.state == "disabled" {
            session.printer.warn(ServerMessages.disabled(credential.id))
        }
        if waiting.isEmpty { throw ServerFailure.nothingToUnlock }
        return .done
    }

    static func revoke(_ session: ServerSession) async throws -> ExitCode {
        let subject = try session.subject()
        let desk = try HelpDesk(session.arguments)
        defer { desk.close() }
        let only = session.arguments[.credential]
        var count = 0
        while true {
            let left = try await current(subject, desk, isEmptyAllowed: count > 0)
                .filter { only == nil || $0.id == only }
            for credential in left {
                _ = try await desk.ask(.delete, credential.path)
                try report("revoked", credential, session)
            }
            count += left.count
            // Without --credential, a credential that was enrolled in the meantime is revoked too.
            guard only == nil, !left.isEmpty else { break }
        }
        if count == 0 { throw ServerFailure.noSuchCredential }
        return .done
    }

    private static func current(
        _ subject: Subject, _ desk: HelpDesk, isEmptyAllowed: Bool = false
    ) async throws -> [ListedCredential] {
        // All credentials are on the first page.
        let target = HelpDesk.path(of: subject, "credentials?limit=1")
        let listed = try await desk.ask(.get, target)?["credentials"]?.elements
        guard let listed else { throw ServerFailure.badResponse }
        let credentials = listed.map(ListedCredential.init).filter { $0.state != "revoked" }
        if credentials.isEmpty, !isEmptyAllowed { throw ServerFailure.noSuchSubject }
        return credentials
    }

    private static func report(
        _ word: String, _ credential: ListedCredential, _ session: ServerSession
    ) throws {
        guard session.wantsJSON else {
            return try session.printer.line(
                "\(credential.id)  \(credential.type)  \(word)".visibleOnTerminal)
        }
        try session.printer.line(
            .object([("credential", .text(credential.id)), ("result", .text(word))]))
    }
}

/// A credential in a list of the API.
struct ListedCredential {
    private let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    var id: String { json.text("credential") }
    var path: String { "/v1/credentials/\(id)" }
    var type: String { json.text("type") }
    var state: String { json.text("state") }
    var lastUse: String? { json["last_used_at"]?.string }
    var isWaiting: Bool { state == "active" && json["waits_until"] != nil }

    /// The type, and the states that prevent the credential from being accepted.
    var summary: String {
        var notes: [String] = []
        if state != "active" { notes.append(state == "pending" ? "not confirmed" : state) }
        if isWaiting { notes.append("waits until \(json.text("waits_until"))") }
        if let reason = json["end_reason"]?.string { notes.append(reason) }
        if let remaining = json["remaining"]?.wholeNumber { notes.append("\(remaining) left") }
        if let custody = json["custody"]?.string { notes.append(custody) }
        return notes.isEmpty ? type : "\(type) (\(notes.joined(separator: ", ")))"
    }

    /// The cells of a row.
    var row: [String] {
        [
            id, summary, json.text("name"), "created \(json.text("created_at"))",
            lastUse.map { "used \($0)" } ?? "",
        ]
    }
}
