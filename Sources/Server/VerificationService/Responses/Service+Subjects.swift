internal import Verification
internal import WatchwordCoding

extension Service {
    /// `GET /v1/subjects`.
    fileprivate func listSubjects(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let beginning = call.query.string("prefix") ?? call.client?.subjects?.text ?? ""
        let after = call.query.string("after").flatMap { Subject($0) }
        let limit = Int(call.query.whole("limit") ?? 100)
        let page = try await deciding(
            await call.verifier.subjects(beginningWith: beginning, after: after, limit: limit))
        let subjects = page.subjects.map { listed -> JSONValue in
            .object([
                ("subject", .text(listed.subject.text)),
                ("credentials", .list(listed.credentials.map(json))),
            ])
        }
        var members: [(String, JSONValue)] = [("subjects", .list(subjects))]
        if let next = page.next { members.append(("next", .text(next.text))) }
        return .answered(members, outcome: "listed")
    }

    /// `GET /v1/subjects/{subject}`.
    fileprivate func describeSubject(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let subject = try subject(call.parameters["subject"])
        let (word, kinds): (String, [CredentialKind]) =
            switch try await deciding(await call.verifier.secondFactor(of: subject)) {
            case .active(let kinds): ("active", kinds)
            case .ended: ("ended", [])
            case .none: ("none", [])
            }
        return .answered(
            [
                ("second_factor", .text(word)),
                ("types", .list(kinds.map { .text($0.rawValue) })),
            ], outcome: word)
    }
}

extension RouteTable {
    static let subjects = [
        Route(
            .get("subjects"), for: .scope(.manage),
            Operation(
                "listSubjects", "Lists the subjects with credentials that are not revoked.",
                Service.listSubjects),
            takes: .query([
                .optional("prefix", .text(.subject)), .optional("after", .text(.subject)),
                .pageLimit,
            ]),
            responds: .answered(.subjects)),
        Route(
            .get("subjects", .subject), for: .scope(.read),
            Operation(
                "describeSubject", "Says whether a subject has a second factor, and which kinds.",
                Service.describeSubject),
            responds: .answered(.secondFactor)),
    ]
}

extension Shape {
    fileprivate static let subjects = Shape(
        "Subjects",
        [
            .required("subjects", .list(.object(listedSubject), counts: 0...1_000)),
            .optional("next", .text(.subject)).noting("Only if there are more."),
        ])

    fileprivate static let listedSubject = Shape(
        "Subject",
        [
            .subject,
            .required("credentials", .list(.object(listedCredential), counts: 1...Int.max)),
        ])

    fileprivate static let secondFactor = Shape(
        "SecondFactor",
        [
            .required("second_factor", .choice(["active", "ended", "none"])),
            .required(
                "types",
                .list(.choice(CredentialKind.allCases.map(\.rawValue)), counts: 0...Int.max)),
        ])
}
