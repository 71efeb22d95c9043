internal import WatchwordCoding

// Examples for the OpenAPI document, made from the shapes with the values of API.md.

extension Shape {
    /// An object with the required fields, and with a field that makes the object have this shape.
    var example: JSONValue {
        let scoped = fields.filter { $0.scope != nil }
        let isImplied = scoped.contains(where: \.isRequired)
        let chosen = fields.filter(\.isRequired) + (isImplied ? [] : scoped.prefix(1))
        return .object(chosen.map { ($0.name, $0.example) })
    }
}

extension Field {
    fileprivate var example: JSONValue {
        if let text = Self.texts[name] { return .text(text) }
        return kind.example(number: 0)
    }

    /// The values of fields whose form permits nearly any text, or covers several kinds of text.
    private static let texts = [
        "account": "alice", "code": "492039", "issuer": "Mill", "user_name": "carol@mill.example",
        "displayName": "carol@mill.example", "rpId": "mill.example",
        "link": "https://mill.example/ui/enrol#wwt_bWlsbC1leGFtcGxlLXRva2VuLW5vdC1hLXNlY3JldCE",
    ]
}

extension FieldKind {
    /// - Parameter number: the position in a list; elements differ if the form permits this.
    fileprivate func example(number: Int) -> JSONValue {
        switch self {
        case .text(let form): .text(form.example(number: number))
        case .choice(let words): .text(words[number % words.count])
        case .whole(let range): .number(max(range.lowerBound, 0))
        case .flag: .flag(true)
        case .exactly(let flag): .flag(flag)
        case .list(let element, let counts):
            .list((0..<max(1, counts.lowerBound)).map(element.example))
        case .object(let shape): shape.example
        }
    }
}

extension TextForm {
    /// - Parameter number: the position in a list.
    func example(number: Int) -> String {
        // An id has 22 characters, and a token has 43.
        let (id, token) = ("bWlsbC1leGFtcGxlLTAwMA", "bWlsbC1leGFtcGxlLXRva2VuLW5vdC1hLXNlY3JldCE")
        return switch self {
        case .label: "phone"
        case .subject: "alice"
        case .userAgent: "Mozilla/5.0 (X11; Linux x86_64)"
        case .code: "ABCD-EFGH-IJKL-MNO\(Unicode.Scalar(UInt8(ascii: "P") + UInt8(number % 10)))"
        case .oneTimePassword: "49203\(9 - number % 10)"
        case .key, .importedKey, .shortKey: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
        case .credential: "cr_\(id)"
        case .client: "cl_\(id)"
        case .verification: "vf_\(id)"
        case .enrolmentTicket: "wwt_\(token)"
        case .loginTicket: "wwl_\(token)"
        case .secret: "wws_\(String(repeating: "A", count: 32))\(token)"
        case .ceremony: "wwc_\(token)"
        case .knownDevice: "wwd_\(token)"
        case .deviceChallenge: "wwx_\(token)"
        case .audience: "https://login.example"
        case .shownText: "Pay 120.00 EUR to Paper Mill"
        case .base64URL, .certificate, .structure: "bWlsbA"
        case .nonce: id
        case .keyURI:
            "otpauth://totp/Mill:alice?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Mill"
        case .base64: "iVBORw0KGgo="
        case .time: "2026-11-21T12:10:05.000Z"
        case .any: "…"
        }
    }
}
