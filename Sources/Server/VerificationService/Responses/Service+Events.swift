internal import Verification
internal import WatchwordCoding

extension Service {
    /// `GET /v1/events`.
    func listEvents(_ call: Call) async throws(Refusal) -> Answer {
        let after = UInt64(call.query["after"] ?? 0)
        let limit = Int(call.query["limit"] ?? 100)
        let events = try await deciding { () async throws(VerifierError) in
            try await verifier.events(after: after, limit: limit)
        }
        return .answered(
            [
                ("events", .list(events.compactMap(Self.json))),
                // The position to continue from. Events that a newer server wrote are skipped.
                ("last", .counter(events.last?.position ?? after)),
            ], outcome: "listed")
    }

    private static func json(_ chained: ChainedEvent) -> JSONValue? {
        guard let event = chained.event else { return nil }
        var members: [(String, JSONValue)] = [
            ("position", .counter(chained.position)), ("time", .text(event.time.text)),
            ("kind", .text(event.kind.rawValue)),
        ]
        if let reason = event.reason { members.append(("reason", .text(reason.rawValue))) }
        if let subject = event.subject { members.append(("subject", .text(subject.text))) }
        if let id = event.credential { members.append(("credential", .text(id.text))) }
        if let id = event.verification { members.append(("verification", .text(id.text))) }
        if let id = event.origin.client { members.append(("client", .text(id.text))) }
        if !event.origin.address.isEmpty {
            members.append(("address", .text(event.origin.address)))
        }
        if !event.origin.userAgent.isEmpty {
            members.append(("user_agent", .text(event.origin.userAgent)))
        }
        if let number = event.number { members.append(("number", .number(number))) }
        // Whether to notify the subject (RFC 4226, section 7.2; NIST SP 800-63B-4, section 4.6).
        members.append(("notify", .flag(event.isNotification)))
        return .object(members)
    }
}
