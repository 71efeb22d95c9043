package import Verification
package import WatchwordCoding

// An event in the form of the API, the commands and the systemd journal.
extension ChainedEvent {
    /// The event's members; `nil` if the body is damaged or was written by a newer version.
    package var json: JSONValue? {
        guard let event else { return nil }
        var members: [(String, JSONValue)] = [
            ("position", .counter(position)), ("time", .text(event.time.text)),
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
        // Whether the application should notify the subject (RFC 4226, section 7.2; NIST SP
        // 800-63B-4, section 4.6).
        members.append(("notify", .flag(event.isNotification)))
        return .object(members)
    }
}

extension Shape {
    /// The members of an event.
    static let event = Shape(
        "Event",
        ([
            .required("position", .whole(0...Int64.max)),
            .required("time", .text(.time)),
            .required("kind", .choice(Event.Kind.allCases.map(\.rawValue))),
            .optional("reason", .choice(Event.Reason.allCases.map(\.rawValue))),
            .optional("subject", .text(.subject)),
            .optional("credential", .text(.credential)),
            .optional("verification", .text(.verification)),
            .optional("client", .text(.client)),
            .optional("address", .text(.any)),
            .optional("user_agent", .text(.any)),
            .optional("number", .whole(Int64.min...Int64.max)),
            .required("notify", .flag),
        ] as [Field]).map { $0.isRequired ? $0 : $0.noting("Absent if the event has none.") })
}
