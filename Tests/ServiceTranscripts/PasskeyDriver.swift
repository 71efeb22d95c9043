package import TestSupport
package import WatchwordCoding
internal import WatchwordCryptography

/// An application or a page that runs ceremonies with a ``TestPasskey``, over any transport.
package struct PasskeyDriver: Sendable {
    package struct Reply: Sendable {
        package let status: Int
        package let json: JSONValue?

        package init(status: Int, json: JSONValue?) {
            self.status = status
            self.json = json
        }

        /// A text in the response.
        package func text(_ name: String) -> String? { json?[name]?.string }
        package var result: String? { text("result") }
        package var reason: String? { text("reason") }
        /// The last part of the problem's type.
        package var problem: String? {
            text("type")?.split(separator: ":").last.map(String.init)
        }
    }

    /// Thrown for a response that a test's setup does not expect.
    package struct Unexpected: Error {
        let status: Int
        let body: String
    }

    /// The sender of a request.
    package enum Sender: Sendable {
        /// An application with all scopes.
        case application
        /// A page of the server.
        case page
    }

    /// Sends a request with a body to the target.
    package let send: @Sendable (Sender, _ target: String, _ body: String) async throws -> Reply

    package init(
        send: @escaping @Sendable (Sender, _ target: String, _ body: String) async throws -> Reply
    ) {
        self.send = send
    }

    /// A registration that has begun.
    package struct Registration: Sendable {
        package let credential: String
        package let challenge: [UInt8]
        package let userHandle: [UInt8]
        package let options: JSONValue?
    }

    /// Begins a registration.
    ///
    /// - Parameter more: further members of the body, each after a comma.
    package func begin(
        _ subject: String = "alice", _ more: String = ""
    ) async throws -> Registration {
        let reply = try await send(
            .application, "/v1/subjects/\(subject)/credentials",
            #"{"type":"passkey","user_name":"\#(subject)"\#(more)}"#)
        return Registration(
            credential: try Self.member("credential", reply),
            challenge: try Self.bytes(reply.json?["options"]?["challenge"], reply),
            userHandle: try Self.bytes(reply.json?["options"]?["user"]?["id"], reply),
            options: reply.json?["options"])
    }

    package func finish(
        _ registration: Registration, _ passkey: TestPasskey
    ) async throws -> Reply {
        let response = try passkey.createdJSON(registration.challenge)
        return try await send(
            .application, "/v1/credentials/\(registration.credential)/registration",
            #"{"response":\#(response)}"#)
    }

    @discardableResult package func register(
        _ passkey: TestPasskey, for subject: String = "alice"
    ) async throws -> Registration {
        let registration = try await begin(subject)
        let reply = try await finish(registration, passkey)
        guard reply.result == "accepted" else { throw Self.unexpected(reply) }
        return registration
    }

    /// A ceremony that has begun.
    package struct Ceremony: Sendable {
        package let token: String
        package let challenge: [UInt8]
        package let options: JSONValue?
    }

    /// Begins a ceremony for a subject, or without a subject.
    package func beginCeremony(
        for subject: String? = "alice", _ more: String = ""
    ) async throws -> Ceremony {
        let named = subject.map { #","subject":"\#($0)""# } ?? ""
        return try Self.ceremony(
            try await send(.application, "/v1/ceremonies", #"{"type":"passkey"\#(named)\#(more)}"#))
    }

    package func finish(
        _ ceremony: Ceremony, _ passkey: TestPasskey
    ) async throws -> Reply {
        let response = try passkey.signedJSON(ceremony.challenge)
        return try await send(
            .application, "/v1/assertions",
            #"{"ceremony":"\#(ceremony.token)","response":\#(response)}"#)
    }

    /// Signs in, with a new ceremony.
    package func signIn(
        _ passkey: TestPasskey, as subject: String? = "alice", _ more: String = ""
    ) async throws -> Reply {
        try await finish(try await beginCeremony(for: subject, more), passkey)
    }

    /// Issues a ticket for a page.
    package func issueTicket(for subject: String = "alice") async throws -> Reply {
        try await send(
            .application, "/v1/subjects/\(subject)/credentials",
            #"{"type":"passkey","user_name":"\#(subject)","via":"page"}"#)
    }

    /// Begins a ceremony on a page, to enrol with a ticket or to sign in.
    package func beginOnPage(ticket: String? = nil) async throws -> Reply {
        try await send(
            .page, "/v1/browser/ceremonies", ticket.map { #"{"ticket":"\#($0)"}"# } ?? "{}")
    }

    /// Finishes a registration on a page.
    package func registerOnPage(
        _ ticket: String, _ challenge: [UInt8], _ passkey: TestPasskey
    ) async throws -> Reply {
        try await send(
            .page, "/v1/browser/registrations",
            #"{"ticket":"\#(ticket)","response":\#(try passkey.createdJSON(challenge))}"#)
    }

    /// Signs in on a page.
    package func signInOnPage(
        _ passkey: TestPasskey, _ more: String = ""
    ) async throws -> Reply {
        let ceremony = try Self.ceremony(try await beginOnPage())
        let response = try passkey.signedJSON(ceremony.challenge)
        return try await send(
            .page, "/v1/browser/assertions",
            #"{"ceremony":"\#(ceremony.token)","response":\#(response)\#(more)}"#)
    }

    /// The ceremony in a response.
    package static func ceremony(_ reply: Reply) throws -> Ceremony {
        Ceremony(
            token: try member("ceremony", reply),
            challenge: try bytes(reply.json?["options"]?["challenge"], reply),
            options: reply.json?["options"])
    }

    /// A member of a response.
    package static func member(_ name: String, _ reply: Reply) throws -> String {
        guard let text = reply.text(name) else { throw unexpected(reply) }
        return text
    }

    /// A challenge in a response.
    package static func challenge(_ reply: Reply) throws -> [UInt8] {
        try bytes(reply.json?["options"]?["challenge"], reply)
    }

    private static func bytes(_ value: JSONValue?, _ reply: Reply) throws -> [UInt8] {
        guard let text = value?.string else { throw unexpected(reply) }
        return try Base64URL.decode(Array(text.utf8).span)
    }

    private static func unexpected(_ reply: Reply) -> Unexpected {
        Unexpected(status: reply.status, body: reply.json?.rendered().text ?? "")
    }
}
