public import WatchwordCryptography

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
        let label = label(issuer: credential.issuer, account: credential.account)
        return "otpauth://\(type)/\(label)?secret="
    }

    /// The label, percent-encoded.
    package static func label(issuer: String, account: String) -> String {
        let needsColon = !issuer.isEmpty || account.utf8.contains(UInt8(ascii: ":"))
        return (needsColon ? issuer.percentEncoded + ":" : "") + account.percentEncoded
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

    /// The encoder, which is written only if the type or the issuer could imply a different one.
    private static func encoder(_ credential: Credential) -> String? {
        switch (credential.style, credential.movingFactor) {
        case (.steam, .counter): "steam"
        // Some apps treat any code of this issuer as a Steam code.
        case (.decimal, .time) where credential.issuer.asciiLowercased == "steam": "decimal"
        default: nil
        }
    }
}

extension String {
    /// The text with all characters encoded except unreserved ones (RFC 3986, section 2.3) and `@`.
    package var percentEncoded: String {
        var encoded: [UInt8] = []
        for byte in utf8 {
            if byte.needsNoEncoding {
                encoded.append(byte)
            } else {
                encoded += byte.percentEncoded
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension SecretBytes {
    /// The same encoding of a secret text.
    package var percentEncoded: SecretBytes {
        withBytes { bytes in
            SecretBytes(capacity: 3 * bytes.count) { output in
                for index in bytes.indices {
                    let byte = bytes[index]
                    if byte.needsNoEncoding {
                        output.append(byte)
                    } else {
                        for character in byte.percentEncoded { output.append(character) }
                    }
                }
            }
        }
    }
}

extension UInt8 {
    fileprivate var needsNoEncoding: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    fileprivate var percentEncoded: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
    }
}
