public import Cryptography

extension KeyURI {
    /// Formats a credential as a key URI.
    ///
    /// The text is also secret.
    ///
    /// The algorithm, the number of digits, and the period or counter are always written, even if
    /// they have default values. A strict reading returns the same credential, unless both issuer
    /// and account are empty.
    public static func format(_ credential: Credential) -> SecretBytes {
        let head = headText(credential)
        let tail = tailText(credential)
        let count =
            head.utf8.count + Base32.encodedCount(of: credential.key.count) + tail.utf8.count
        return SecretBytes(capacity: count) { output in
            for byte in head.utf8 { output.append(byte) }
            Base32.encode(credential.key, into: &output)
            for byte in tail.utf8 { output.append(byte) }
        }
    }

    /// The length of the URI if every character of each text needs encoding, which is the maximum.
    static func longestCount(
        _ issuer: String, _ account: String, _ key: SecretBytes,
        _ parameters: [Credential.Parameter]
    ) -> Int {
        // The issuer occurs twice; the rest is the scheme, the type, names and four numbers.
        let texts = parameters.reduce(2 * issuer.utf8.count + account.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 1
        }
        return 200 + 3 * texts + Base32.encodedCount(of: key.count)
    }

    /// Everything before the key.
    private static func headText(_ credential: Credential) -> String {
        let type: String
        switch (credential.movingFactor, credential.style) {
        case (.counter, _): type = "hotp"
        case (.time, .decimal): type = "totp"
        case (.time, .steam): type = "steam"
        }
        return "otpauth://\(type)/\(label(credential))?secret="
    }

    private static func label(_ credential: Credential) -> String {
        let account = credential.account.percentEncoded
        let needsColon =
            !credential.issuer.isEmpty || credential.account.utf8.contains(UInt8(ascii: ":"))
        return needsColon ? "\(credential.issuer.percentEncoded):\(account)" : account
    }

    /// Everything after the key.
    private static func tailText(_ credential: Credential) -> String {
        var text = ""
        func append(_ name: String, _ value: String) { text += "&\(name)=\(value)" }
        if !credential.issuer.isEmpty { append("issuer", credential.issuer.percentEncoded) }
        append("algorithm", credential.algorithm.rawValue)
        append("digits", String(credential.style.length))
        if let encoder = encoder(credential) { append("encoder", encoder) }
        switch credential.movingFactor {
        case .time(let step):
            append("period", String(step.period))
            if step.start != 0 { append("t0", String(step.start)) }
        case .counter(let counter):
            append("counter", String(counter))
        }
        for parameter in credential.otherParameters {
            append(parameter.name.percentEncoded, parameter.value.percentEncoded)
        }
        return text
    }

    /// The encoder, which is written only if the type and the issuer would imply a different one.
    private static func encoder(_ credential: Credential) -> String? {
        switch (credential.style, credential.movingFactor) {
        case (.steam, .counter): "steam"
        case (.decimal(let length), .time)
        where length.digits == CodeStyle.steamLength
            && credential.issuer.asciiLowercased == "steam":
            "decimal"
        default: nil
        }
    }
}

extension String {
    /// The text with all characters encoded except unreserved ones (RFC 3986, section 2.3) and `@`.
    fileprivate var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "@"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
