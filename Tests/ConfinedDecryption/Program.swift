internal import ExportReading
internal import Glibc
internal import ProcessConfinement
internal import WatchwordCryptography
internal import WatchwordSystem

/// Derives keys and decrypts in a confined process, as the reader of exports does.
///
/// It prints the name of each step that succeeded. A forbidden system call kills the process.
@main struct Program {
    static func main() throws {
        try prepareConfinedCryptography()
        try prepareExportCryptography()
        try Confinement.enter(Confinement.Limits(addressSpace: 2 << 30, processorSeconds: 60))
        try derive()
        try decrypt()
        report("decompressed \(try gunzip(Self.compressed.span, limit: 100).count)")
    }

    /// Writes a line without the buffer of `print`, whose creation is a forbidden call.
    private static func report(_ step: String) {
        let line = Array("\(step)\n".utf8)
        guard unsafe write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
    }

    private static let zeros = [UInt8](repeating: 0, count: 64)
    private static let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32).span)

    private static func derive() throws {
        for algorithm in HashAlgorithm.allCases {
            _ = try pbkdf2(
                algorithm, password: key, salt: zeros.span, iterations: 1000, count: 32)
            _ = hmac(algorithm, key: key, message: zeros.span)
            _ = algorithm.digest(of: key)
        }
        _ = sha256(zeros.span)
        _ = hkdfExpandSHA256(key: key, info: zeros.span, count: 32)
        report("hashed")
        // Aegis' cost, and Argon2's with more memory than one allocation arena.
        _ = try scrypt(
            passphrase: key, salt: zeros.span,
            cost: ScryptCost(checkedLogN: 15, blockSize: 8, parallelism: 1), count: 32)
        report("scrypt")
        for variant in [Argon2Variant.d, .id] {
            _ = try Argon2(variant, kibibytes: 64 << 10, passes: 2, lanes: 4)
                .key(from: key, salt: zeros.span, count: 32)
        }
        report("argon2")
    }

    private static func decrypt() throws {
        let vector = zeros.span.extracting(..<16)
        for mode in AESMode.allCases {
            _ = try decryptAES(
                zeros.span, mode: mode, key: key,
                vector: mode == .ecb ? zeros.span.extracting(..<0) : vector, hasPadding: false)
        }
        _ = try encryptRepeatedly(key, key: key, rounds: 10_000)
        do {
            _ = try SealingKey(key).open(zeros.span, nonce: vector, associatedData: zeros.span)
        } catch CryptographyError.notAuthentic {
            report("aes")
        }
        do { _ = try unwrapKey(zeros.span, with: key) } catch CryptographyError.wrongKey {
            report("unwrapped nothing")
        }
        _ = try ChaCha20Stream(key: key, nonce: zeros.span.extracting(..<12)).apply(to: zeros.span)
        _ = try Salsa20Stream(key: key, nonce: zeros.span.extracting(..<8)).apply(to: zeros.span)
        _ = try decryptTwofishCBC(zeros.span, key: key, vector: vector)
        do {
            _ = try openSecretStream(
                zeros.span, key: key, header: zeros.span.extracting(..<24))
        } catch ContainerError.wrongPassword {
            report("streams")
        }
    }

    /// "hello" as gzip.
    private static let compressed: [UInt8] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
        0x36, 5, 0, 0, 0,
    ]
}
