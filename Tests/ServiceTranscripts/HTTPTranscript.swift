internal import Foundation
internal import JSONReading
internal import TestSupport
internal import WatchwordCoding

/// A file with requests and the expected responses, independent of the transport.
///
/// `Vectors/http/*.json`: `{"source", "steps": […]}`. A step has a `name`, a `request` (method and
/// target) and a `status`. It may have `as` (the API key), `headers`, a `body` (JSON) or `text`
/// (sent literally), `advance` (seconds that pass before the request), `answer` and
/// `answer_headers`.
///
/// In `answer`, `*` matches any text, `→name` matches any text and stores it, and `→name=` matches
/// the stored text; objects have exactly these members. In requests, `{{name}}` is the stored text,
/// `{{code:name}}` is the code of a stored key URI, `{{code:name:2}}` is the code two steps later,
/// and `{{wrong:name}}` is a wrong code. After a stored text or a code, `|middle=` and characters
/// insert them in its middle, and `|case=lower` changes its letters. `{{created:name}}` and
/// `{{signed:name}}` are a browser's responses to a stored challenge, with the transcript's
/// passkey; changes to the response follow, as in `{{signed:name|id=02|flags=0d}}`. With the device
/// key of a person, `{{point:person}}` is the public key (`compressed-point` as a compressed
/// point), `{{enrolment:person:ticket}}` its signature for a stored ticket,
/// `{{sign-in:person:credential:challenge:expiry}}` for a stored challenge, and
/// `{{confirm:person:credential:challenge:expiry:text}}` for a stored challenge and this text;
/// `|audience=` and an address follow if the signature is for a different server.
package struct HTTPTranscript: Sendable {
    /// One request and its response.
    package struct Step: Sendable {
        /// The purpose of the step.
        package let name: String
        let method: String
        let target: String
        let key: String?
        let headers: [(String, String)]
        let body: JSONValue?
        let text: String?
        let advance: Int64
        let status: Int
        let answer: JSONValue?
        let answerHeaders: [(String, String)]
    }

    /// The steps in order.
    package let steps: [Step]

    private static let folder = PackageFolder.root.appending(path: "Vectors/http")

    /// The names of all transcripts.
    package static func all() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.sorted()
    }

    /// The reason why a file is not a valid transcript.
    package struct Malformed: Error {
        let step: String
    }

    /// Reads a transcript, and throws for unknown keys.
    package init(named name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: name)))
        let file = try readJSON(bytes.span, limits: JSONLimits(bytes: 1 << 20, depth: 16))
        guard let source = file["source"]?.string, !source.isEmpty, file.members?.count == 2,
            let steps = file["steps"]?.elements, !steps.isEmpty
        else { throw Malformed(step: name) }
        self.steps = try steps.map(Self.step)
    }

    private static func step(_ value: JSONValue) throws -> Step {
        let name = value["name"]?.string ?? "unnamed"
        let known = [
            "name", "as", "request", "headers", "body", "text", "advance", "status", "answer",
            "answer_headers",
        ]
        let request = (value["request"]?.string ?? "").split(separator: " ", maxSplits: 1)
        guard (value.members ?? []).allSatisfy({ known.contains($0.0) }), request.count == 2,
            let status = value["status"]?.wholeNumber
        else { throw Malformed(step: name) }
        var advance: Int64 = 0
        if case .number(let seconds)? = value["advance"] { advance = seconds }
        return Step(
            name: name, method: String(request[0]), target: String(request[1]),
            key: value["as"]?.string, headers: texts(value["headers"]), body: value["body"],
            text: value["text"]?.string, advance: advance, status: Int(status),
            answer: value["answer"], answerHeaders: texts(value["answer_headers"]))
    }

    private static func texts(_ value: JSONValue?) -> [(String, String)] {
        (value?.members ?? []).compactMap { name, value in value.string.map { (name, $0) } }
    }
}
