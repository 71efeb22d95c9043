internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// Translates the dialects of key URIs into the form that ``KeyURI`` reads.
///
/// Apps extend the format with tags, notes and types, and some write it incorrectly. Each deviation
/// is listed in ``take(_:of:into:)`` or ``KindOfURI``.
struct KeyURIDialect {
    private(set) var uri = SecretBytes(capacity: 0) { _ in }
    private(set) var tags: [String] = []
    private(set) var note = ""
    private(set) var icon = ""
    private(set) var isFavourite = false
    private(set) var state = ExportedEntry.State.active
    private(set) var warnings: [ExportWarning] = []
    /// The PIN of a Yandex key.
    private(set) var pin: SecretBytes?
    /// Whether the URI has Ente's `codeDisplay`.
    private(set) var isFromEnte = false
    private var kind = KindOfURI.other

    /// Whether the key is a Yandex key, whose translated URI has the type `totp`.
    var isYandex: Bool { kind == .yandex }

    init(_ text: Span<UInt8>) {
        let parts = KeyURIParts(text)
        kind = KindOfURI(text, parts)
        let steamWarning = kind == .steam && hasOtherSteamValues(text, parts)
        if steamWarning { warnings.append(.steamParameters) }
        let hasPeriod = parts.first("period") != nil
        // The longest addition is a parameter that a missing `&` had joined to another.
        uri = SecretBytes(capacity: text.count + 16) { output in
            appendHead(text.extracting(..<parts.headEnd), into: &output)
            var separator = UInt8(ascii: "?")
            for parameter in parts.parameters where !take(parameter, of: text) {
                output.append(separator)
                separator = UInt8(ascii: "&")
                append(parameter, of: text, hasPeriod: hasPeriod, into: &output)
            }
        }
    }

    /// Writes everything before the parameters, with a type that ``KeyURI`` accepts.
    private func appendHead(_ head: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        let type = KindOfURI.type(of: head)
        output.append(copying: head.extracting(..<type.lowerBound))
        let name =
            switch kind {
            case .steam: "steam"
            case .yandex: "totp"
            case .hotp, .other: ""
            }
        if name.isEmpty {
            output.append(copying: head.extracting(type))
        } else {
            for byte in name.utf8 { output.append(byte) }
        }
        output.append(copying: head.extracting(type.upperBound...))
    }

    /// Interprets a parameter that is not part of the format.
    ///
    /// - Returns: whether the parameter is left out of the translated URI.
    private mutating func take(_ parameter: KeyURIParts.Parameter, of text: Span<UInt8>) -> Bool {
        let value = text.extracting(parameter.value)
        switch parameter.name {
        case "codedisplay":
            isFromEnte = true
            return takeDisplay(value)
        case "tags", "tag", "group":  // andOTP repeats `tags`.
            tags.append(KeyURIParts.text(value))
            return true
        case "note":
            note = KeyURIParts.text(value)
            return true
        case "icon":  // WinAuth.
            icon = KeyURIParts.text(value)
            return true
        // WinAuth; `data` holds Steam's other secrets.
        case "serial", "deviceid", "data": return true
        case "pin" where kind == .yandex:
            pin = KeyURIParts.decoded(value).decodedBase32()?.secret
            return true
        case "pin_length" where kind == .yandex: return true
        case "digits", "period", "algorithm", "encoder", "steam":
            return kind == .steam
                || (kind == .hotp && parameter.name == "period")
        // 2FAS and Stratum write a counter for every type.
        case "counter": return kind != .hotp
        default: return false
        }
    }

    /// Writes a parameter of the format, corrected where an app writes it incorrectly.
    private func append(
        _ parameter: KeyURIParts.Parameter, of text: Span<UInt8>, hasPeriod: Bool,
        into output: inout OutputSpan<UInt8>
    ) {
        let value = text.extracting(parameter.value)
        if parameter.name == "counter", value.equalsIgnoringCase("-1") {
            // FreeOTP's counter of a token that has not been used.
            for byte in "counter=0".utf8 { output.append(byte) }
            return
        }
        // Ente wrote `issuer=Acmeperiod=30`.
        if parameter.name == "issuer", let cut = value.firstRange(of: "period=") {
            let start = parameter.value.lowerBound + cut.lowerBound
            output.append(copying: text.extracting(parameter.whole.lowerBound..<start))
            guard !hasPeriod, kind == .other else { return }
            output.append(UInt8(ascii: "&"))
            output.append(copying: text.extracting(start..<parameter.whole.upperBound))
            return
        }
        output.append(copying: text.extracting(parameter.whole))
    }

    /// Reads Ente's `codeDisplay`.
    ///
    /// - Returns: whether it could be read; otherwise it remains as an unknown parameter, which is
    ///   reported, because the secret is more important.
    private mutating func takeDisplay(_ value: Span<UInt8>) -> Bool {
        let decoded = KeyURIParts.decoded(value)
        let json = decoded.withBytes { $0.replacing("%2C", with: UInt8(ascii: ",")) }
        do {
            let fields = try JSONFields(try readExportJSON(json, .ente))
            tags += try fields.texts("tags")
            note = try fields.text("note")
            icon = fields["iconID"]?.string ?? ""
            isFavourite = try fields.flag("pinned")
            if try fields.flag("trashed") { state = .deleted }
            return true
        } catch {
            return false
        }
    }

    /// Whether the URI states values other than those that Steam uses.
    private func hasOtherSteamValues(_ text: Span<UInt8>, _ parts: KeyURIParts) -> Bool {
        parts.parameters.contains { parameter in
            let value = text.extracting(parameter.value)
            guard value.count > 0 else { return false }
            return switch parameter.name {
            case "digits": !value.equalsIgnoringCase("5")
            case "period": !value.equalsIgnoringCase("30")
            case "algorithm": HashAlgorithm(spelling: KeyURIParts.text(value)) != .sha1
            default: false
            }
        }
    }
}

/// The kind of code that a key URI of any dialect describes.
enum KindOfURI {
    case steam, yandex, hotp, other

    /// Recognises Steam by the type, by `encoder=steam`, by a bare `&steam`, or by the type `totp`
    /// with the issuer `Steam`.
    init(_ text: Span<UInt8>, _ parts: KeyURIParts) {
        let type = text.extracting(Self.type(of: text.extracting(..<parts.headEnd)))
        if type.equalsIgnoringCase("steam") {
            self = .steam
        } else if type.equalsIgnoringCase("yaotp") {
            self = .yandex
        } else if type.equalsIgnoringCase("hotp") {
            self = .hotp
        } else if type.equalsIgnoringCase("totp"), Self.isSteam(text, parts) {
            self = .steam
        } else {
            self = .other
        }
    }

    private static func isSteam(_ text: Span<UInt8>, _ parts: KeyURIParts) -> Bool {
        if parts.parameters.contains(where: { $0.name == "steam" && $0.value.isEmpty }) {
            return true
        }
        if let encoder = parts.first("encoder") {
            return text.extracting(encoder).equalsIgnoringCase("steam")
        }
        if let issuer = parts.first("issuer") {
            return KeyURIParts.text(text.extracting(issuer)).trimmed == "Steam"
        }
        let label = min(type(of: text).upperBound + 1, parts.headEnd)..<parts.headEnd
        let name = KeyURIParts.text(text.extracting(label))
        return name.hasPrefix("Steam:")
    }

    /// The position of the type, between the scheme and the label.
    static func type(of head: Span<UInt8>) -> Range<Int> {
        guard let scheme = head.firstRange(of: "://") else { return 0..<0 }
        let slash = head.firstIndex(of: UInt8(ascii: "/"), in: scheme.upperBound..<head.count)
        return scheme.upperBound..<(slash ?? head.count)
    }
}

extension Span<UInt8> {
    /// The first place where `word`, in any case, occurs; `word` is lower-case ASCII.
    func firstRange(of word: String) -> Range<Int>? {
        let length = word.utf8.count
        guard count >= length, let first = word.utf8.first else { return nil }
        // A capital letter differs from its lowercase form in this bit.
        let other = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) ? first & ~0x20 : first
        for start in 0...(count - length) {
            guard self[start] == first || self[start] == other else { continue }
            if extracting(start..<start + length).equalsIgnoringCase(word) {
                return start..<start + length
            }
        }
        return nil
    }

    /// A copy in which each occurrence of `word` is replaced.
    func replacing(_ word: String, with byte: UInt8) -> SecretBytes {
        let wanted = word.asciiLowercased
        return SecretBytes(capacity: count) { output in
            var start = 0
            while let found = extracting(start...).firstRange(of: wanted) {
                output.append(copying: extracting(start..<start + found.lowerBound))
                output.append(byte)
                start += found.upperBound
            }
            output.append(copying: extracting(start...))
        }
    }
}

/// The positions of a key URI's parts, before anything is decoded.
struct KeyURIParts {
    struct Parameter {
        /// The name in lower case.
        let name: String
        /// `name=value` as a whole.
        let whole: Range<Int>
        /// The value, which is empty if there is no `=`.
        let value: Range<Int>
    }

    /// The end of the label.
    let headEnd: Int
    /// The parameters, in their order; empty ones are left out.
    let parameters: [Parameter]

    init(_ text: Span<UInt8>) {
        let question = text.firstIndex(of: UInt8(ascii: "?"), in: 0..<text.count)
        headEnd = question ?? text.count
        var parameters: [Parameter] = []
        var start = min(headEnd + 1, text.count)
        while start < text.count {
            let end = text.firstIndex(of: UInt8(ascii: "&"), in: start..<text.count) ?? text.count
            let equals = text.firstIndex(of: UInt8(ascii: "="), in: start..<end)
            if start < end {
                // The names that are interpreted are short ASCII words.
                let name = text.extracting(start..<min(equals ?? end, start + 32))
                parameters.append(
                    Parameter(
                        name: String(decoding: [UInt8](copying: name), as: UTF8.self)
                            .asciiLowercased,
                        whole: start..<end, value: (equals.map { $0 + 1 } ?? end)..<end))
            }
            start = end + 1
        }
        self.parameters = parameters
    }

    /// The value of the first parameter with this name, if it is not empty.
    func first(_ name: String) -> Range<Int>? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The decoded label of a key URI; empty for any other text, which may be a secret.
    static func label(of text: Span<UInt8>) -> String {
        guard KeyURI.isKeyURI(text) else { return "" }
        let head = text.extracting(..<KeyURIParts(text).headEnd)
        let type = KindOfURI.type(of: head)
        guard type.upperBound + 1 < head.count else { return "" }
        return self.text(head.extracting((type.upperBound + 1)...))
    }

    /// A percent-decoded value, in which `+` is a space.
    static func decoded(_ value: Span<UInt8>) -> SecretBytes {
        var decoder = PercentDecoder(plus: .space)
        return SecretBytes(capacity: value.count) { decoder.decode(value, into: &$0) }
    }

    /// A percent-decoded value that is not secret; empty if it is not UTF-8.
    static func text(_ value: Span<UInt8>) -> String { decoded(value).decodedText() ?? "" }
}
