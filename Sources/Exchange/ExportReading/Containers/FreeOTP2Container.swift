internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// The encrypted keys of FreeOTP 2.
enum FreeOTP2Container {
    /// Decrypts the master key.
    static func masterKey(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let fields = ContainerFields(document, .freeOTP)
        let algorithm: HashAlgorithm
        switch try fields.text("mAlgorithm").decodedText() {
        case "PBKDF2withHmacSHA1": algorithm = .sha1
        case "PBKDF2withHmacSHA512": algorithm = .sha512
        default: throw .unreadable(.freeOTP, .unsupportedAlgorithm)
        }
        let salt = try bytes(document["mSalt"])
        guard salt.count == 32 else { throw .damaged(.freeOTP) }
        let wrapped = try WrappedKey(document["mEncryptedKey"])
        let key = try Decryption(.freeOTP).pbkdf2(
            algorithm, password, salt: salt, iterations: try fields.number("mIterations"),
            count: salt.count)
        let masterKey = try wrapped.open(key)
        guard masterKey.count == 32 else { throw .damaged(.freeOTP) }
        return masterKey
    }

    /// Decrypts a token's secret.
    static func unwrapped(
        _ document: JSONValue, with masterKey: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        try WrappedKey(document).open(masterKey)
    }

    private struct WrappedKey {
        private let ciphertext: SecretBytes
        private let nonce: SecretBytes
        private let associatedData: SecretBytes

        init(_ document: JSONValue?) throws(ExportError) {
            let fields = ContainerFields(document, .freeOTP)
            guard try fields.text("mCipher").decodedText() == "AES/GCM/NoPadding" else {
                throw .unreadable(.freeOTP, .unsupportedAlgorithm)
            }
            ciphertext = try FreeOTP2Container.bytes(document?["mCipherText"])
            nonce = try Self.nonce(try FreeOTP2Container.bytes(document?["mParameters"]))
            associatedData = try fields.text("mToken")
        }

        func open(_ key: SecretBytes) throws(ExportError) -> SecretBytes {
            try Decryption(.freeOTP).openGCM(
                ciphertext, key: key, nonce: nonce,
                associatedData: associatedData.withBytes { [UInt8](copying: $0) })
        }

        /// The octet string in `SEQUENCE { OCTET STRING nonce, INTEGER 16 }`, or alone.
        private static func nonce(_ parameters: SecretBytes) throws(ExportError) -> SecretBytes {
            var parts = BinaryParts(parameters, .freeOTP)
            if parameters.count == 19 {
                guard try parts.take(2) == SecretBytes([0x30, 17]) else {
                    throw .damaged(.freeOTP)
                }
            }
            guard try parts.take(2) == SecretBytes([0x04, 12]) else { throw .damaged(.freeOTP) }
            let nonce = try parts.take(12)
            let rest = try parts.rest()
            guard rest.count == 0 || rest == SecretBytes([0x02, 1, 16]) else {
                throw .damaged(.freeOTP)
            }
            return nonce
        }
    }

    /// A JSON list of signed bytes.
    private static func bytes(_ list: JSONValue?) throws(ExportError) -> SecretBytes {
        guard let elements = list?.elements else { throw .damaged(.freeOTP) }
        return try SecretBytes(capacity: elements.count) { output throws(ExportError) in
            for element in elements {
                guard case .number(let number) = element, (-128...255).contains(number) else {
                    throw .damaged(.freeOTP)
                }
                output.append(UInt8(truncatingIfNeeded: number))
            }
        }
    }
}
