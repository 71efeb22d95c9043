internal import WatchwordCryptography
internal import Exports
internal import OneTimePassword

extension SecretBytes {
    /// The bytes that hexadecimal digits encode, or `nil` if it is anything else.
    func decodedHex() -> SecretBytes? {
        withBytes { digits in
            guard digits.count.isMultiple(of: 2) else { return nil }
            for index in digits.indices where digits[index].hexDigitValue == nil { return nil }
            return SecretBytes(capacity: digits.count / 2) { output in
                for index in stride(from: 0, to: digits.count, by: 2) {
                    let high = digits[index].hexDigitValue ?? 0
                    output.append(high << 4 | (digits[index + 1].hexDigitValue ?? 0))
                }
            }
        }
    }

    /// The bytes that standard Base64 with padding encodes, or `nil` if it is anything else.
    func decodedBase64() -> SecretBytes? {
        do {
            return try withBytes { text throws(Base64Error) in try Base64.decodeSecret(text) }
        } catch {
            return nil
        }
    }

    /// The bytes that Base32 encodes in any form that apps write, or `nil` if it is anything else.
    func decodedBase32() -> (secret: SecretBytes, tolerances: [Base32Deviation])? {
        do {
            return try withBytes { text throws(Base32Error) in
                try Base32.decodeTolerantly(text)
            }
        } catch {
            return nil
        }
    }

    /// Lower-case hexadecimal digits.
    func encodedHex() -> SecretBytes { Hexadecimal.encode(self) }

    /// A copy of part of the bytes.
    func part(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(range)) }
    }

    /// The bytes as a row's text that is not secret.
    ///
    /// - Throws: ``ExportRowRefusal/malformed`` if they are not UTF-8.
    func name() throws(ExportRowRefusal) -> String {
        guard let text = decodedText() else { throw .malformed }
        return text
    }

    /// The bytes as text that is not secret, or `nil` if they are not UTF-8.
    func decodedText() -> String? {
        withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
    }
}
