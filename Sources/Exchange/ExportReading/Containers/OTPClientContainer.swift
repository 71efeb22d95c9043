internal import Exports
internal import WatchwordCryptography
internal import WatchwordSystem

/// OTPClient's database, versions 1 to 3.
enum OTPClientContainer {
    private static let magic = SecretBytes(Array("OTPClient".utf8))

    /// Returns the JSON.
    ///
    /// A file without the magic number is of version 1.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let header = try Header(file)
        do {
            return try header.open(file, password)
        } catch .wrongPassword where header.version < 3 && !password.isASCII {
            // The app passed the number of characters as the number of bytes.
            guard let text = password.decodedText() else { throw .wrongPassword(.otpClient) }
            return try header.open(file, password.part(0..<text.unicodeScalars.count))
        }
    }

    private struct Header {
        let version: UInt64
        /// The length, with the magic number.
        private let count: Int
        private let nonce: SecretBytes
        private let salt: SecretBytes
        /// Argon2's passes, memory in KiB and lanes.
        private var costs: [UInt64] = []

        init(_ file: SecretBytes) throws(ExportError) {
            var parts = BinaryParts(file, .otpClient)
            let hasMagic = file.count >= 9 && file.part(0..<9) == OTPClientContainer.magic
            var version: UInt64 = 1
            if hasMagic {
                try parts.skip(9)
                version = try parts.number(width: 4)
            }
            if hasMagic, version != 3 {
                // Version 2 continues with three zero bytes and has little-endian numbers.
                parts = BinaryParts(file, .otpClient, .littleEndian)
                try parts.skip(12)
                version = try parts.number(width: 4)
                guard version == 2 else { throw .newerVersion(.otpClient) }
            }
            self.version = version
            nonce = try parts.take(16)
            salt = try parts.take(32)
            if hasMagic {
                for _ in 0..<3 { costs.append(try parts.number(width: 4)) }
            }
            count = parts.position
            guard parts.remaining >= 16 else { throw .damaged(.otpClient) }
        }

        func open(
            _ file: SecretBytes, _ password: SecretBytes
        ) throws(ExportError) -> SecretBytes {
            let decryption = Decryption(.otpClient)
            let key =
                version == 1
                ? try decryption.pbkdf2(.sha512, password, salt: salt, iterations: 100_000)
                : try decryption.argon2(
                    .id, password, salt: salt, kibibytes: costs[1], passes: costs[0],
                    lanes: costs[2])
            return try decryption.openGCM(
                file.part(count..<file.count), key: key, nonce: nonce,
                associatedData: file.part(0..<count).withBytes { [UInt8](copying: $0) })
        }
    }
}
