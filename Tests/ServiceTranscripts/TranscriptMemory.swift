internal import OneTimePassword
internal import TestSupport
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

/// The texts that a transcript run stores from responses and inserts into requests.
struct TranscriptMemory {
    private let clock: TestClock
    private var texts: [String: String] = [:]
    private let passkey: TestPasskey

    init(clock: TestClock) throws {
        self.clock = clock
        passkey = try TestPasskey()
    }

    /// The request of a step with its placeholders replaced.
    func request(
        _ step: HTTPTranscript.Step, keys: [String: SecretBytes]
    ) throws -> HTTPRequest {
        var headers = try step.headers.map { HTTPField($0.0, try filled($0.1)) }
        var body = SecretBytes(copying: [UInt8]().span)
        if let value = step.body {
            body = SecretBytes(text: try filled(value.rendered().text))
            if !headers.contains(where: { $0.name == "Content-Type" }) {
                headers.append(HTTPField("Content-Type", "application/json"))
            }
        } else if let text = step.text {
            body = SecretBytes(text: try filled(text))
        }
        var authorization: SecretBytes?
        if let name = step.key {
            guard let key = keys[name] else { throw HTTPTranscript.Malformed(step: step.name) }
            authorization = SecretBytes(text: "Bearer \(key.text)")
        }
        return HTTPRequest(
            method: step.method, target: try filled(step.target), headers: headers,
            authorization: authorization, body: body, peer: "192.0.2.7")
    }

    /// Whether a value matches a pattern.
    mutating func matches(_ value: JSONValue, _ pattern: JSONValue) -> Bool {
        if let members = pattern.members {
            guard let found = value.members, found.count == members.count else { return false }
            for (name, expected) in members {
                guard let inner = value[name], matches(inner, expected) else { return false }
            }
            return true
        }
        if let elements = pattern.elements {
            guard let found = value.elements, found.count == elements.count else { return false }
            for (inner, expected) in zip(found, elements) where !matches(inner, expected) {
                return false
            }
            return true
        }
        if let text = pattern.string {
            if text == "*" { return true }
            var found = value.string
            if case .number(let number) = value { found = "\(number)" }
            guard let found else { return false }
            if text.hasPrefix("→") {
                let name = String(text.dropFirst())
                if name.hasSuffix("=") { return texts[String(name.dropLast())] == found }
                texts[name] = found
                return true
            }
            return (try? filled(text)) == found
        }
        return value.rendered() == pattern.rendered()
    }

    private func filled(_ text: String) throws -> String {
        var filled = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "{{"), let end = rest.firstRange(of: "}}") {
            filled += rest[..<start.lowerBound]
            filled += try value(of: String(rest[start.upperBound..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return filled + rest
    }

    private func value(of placeholder: String) throws -> String {
        let changes = placeholder.split(separator: "|").map(String.init)
        let parts = changes[0].split(separator: ":").map(String.init)
        if parts.count == 1, let text = texts[parts[0]] {
            return try typed(text, changes.dropFirst())
        }
        if let made = try madeByDevice(parts, changes.dropFirst()) { return made }
        guard parts.count >= 2, let text = texts[parts[1]] else {
            throw HTTPTranscript.Malformed(step: placeholder)
        }
        let offset: Int64 = parts.count == 3 ? try number(parts[2]) : 0
        switch parts[0] {
        case "created": return try passkey(changes.dropFirst()).createdJSON(bytes(text))
        case "signed": return try passkey(changes.dropFirst()).signedJSON(bytes(text))
        case "code":
            return try typed(codes(of: text, offsets: offset...offset)[0], changes.dropFirst())
        case "wrong":
            let near = try codes(of: text, offsets: -120...120)
            let digits = near[0].count
            for number in 0..<10_000 {
                let wrong = String(repeating: "0", count: max(0, digits - 5)) + "\(10_000 + number)"
                if !near.contains(wrong) { return wrong }
            }
            throw HTTPTranscript.Malformed(step: placeholder)
        default: throw HTTPTranscript.Malformed(step: placeholder)
        }
    }

    /// A code with the variations that people type.
    private func typed(_ code: String, _ changes: some Sequence<String>) throws -> String {
        try changes.reduce(code) { code, change in
            let half = code.count / 2
            return switch change.split(separator: "=", maxSplits: 1).first {
            case "middle": String(code.prefix(half)) + change.dropFirst(7) + code.dropFirst(half)
            case "case": code.lowercased()
            default: throw HTTPTranscript.Malformed(step: change)
            }
        }
    }

    private func bytes(_ text: String) throws -> [UInt8] {
        try Base64URL.decode(Array(text.utf8).span)
    }

    /// The transcript's passkey after changes such as `flags=0d`, with bytes in hexadecimal.
    private func passkey(_ changes: some Sequence<String>) throws -> TestPasskey {
        var passkey = passkey
        for change in changes {
            let parts = change.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw HTTPTranscript.Malformed(step: change) }
            let value = parts[1]
            switch parts[0] {
            case "algorithm": passkey.algorithm = try number(value)
            case "client-data": passkey.editClientData = { _ in Array(value.utf8) }
            case "count": passkey.count = try number(value)
            case "flags": passkey.flags = try Hex.bytes(value)[0]
            case "format": passkey.format = value
            case "frame": passkey.isCrossOrigin = value == "true"
            case "id": passkey.id = try Hex.bytes(value)
            case "model": passkey.model = try Hex.bytes(value)
            case "object-rest":
                let rest = try Hex.bytes(value)
                passkey.editObject = { $0 + rest }
            case "origin": passkey.origin = value
            case "relying-party": passkey.relyingPartyID = value
            case "rest": passkey.rest = try Hex.bytes(value)
            case "signature": passkey.signature = try Hex.bytes(value)
            case "stated-id": passkey.statedID = try Hex.bytes(value)
            case "top-origin": passkey.topOrigin = value
            case "type": passkey.type = value
            case "user-handle":
                guard let text = texts[value] else {
                    throw HTTPTranscript.Malformed(step: change)
                }
                passkey.userHandle = try bytes(text)
            default: throw HTTPTranscript.Malformed(step: change)
            }
        }
        return passkey
    }

    private func number<Number: FixedWidthInteger>(_ text: String) throws -> Number {
        guard let number = Number(text) else { throw HTTPTranscript.Malformed(step: text) }
        return number
    }

    /// The part that a device key contributes to a request; `nil` for other placeholders.
    private func madeByDevice(
        _ parts: [String], _ changes: some Sequence<String>
    ) throws -> String? {
        guard parts.count >= 2 else { return nil }
        func text(_ index: Int) throws -> String {
            guard index < parts.count, let text = texts[parts[index]] else {
                throw HTTPTranscript.Malformed(step: parts.joined(separator: ":"))
            }
            return text
        }
        func key() throws -> SampleDeviceKey {
            var key = try SampleDeviceKey(parts[1])
            for change in changes {
                let audience = "audience="
                guard change.hasPrefix(audience) else {
                    throw HTTPTranscript.Malformed(step: change)
                }
                key.audience = String(change.dropFirst(audience.count))
            }
            return key
        }
        switch parts[0] {
        case "point": return try key().pointText
        case "compressed-point":
            let point = try key().key.point
            let compressed = [2 + point[64] % 2] + point[1...32]
            return Base64URL.encode(compressed.span)
        case "enrolment": return try key().enrolment(text(2))
        case "sign-in", "confirm":
            let shown = parts[0] == "confirm" ? parts.last : nil
            return try key().signature(
                of: text(3), expiry: number(text(4)), by: text(2), confirming: shown)
        default: return nil
        }
    }

    private func codes(of uri: String, offsets: ClosedRange<Int64>) throws -> [String] {
        let credential = try KeyURI(parsing: Array(uri.utf8).span).credential
        switch credential.movingFactor {
        case .time:
            let step = Int64(try credential.step(atUnixTime: clock.now.seconds))
            let generator = credential.generator()
            return offsets.map { generator.code(at: UInt64(step + $0)).text }
        default:
            return try offsets.map { $0 < 0 ? "" : try credential.code(counter: UInt64($0)).text }
                .filter { !$0.isEmpty }
        }
    }
}
