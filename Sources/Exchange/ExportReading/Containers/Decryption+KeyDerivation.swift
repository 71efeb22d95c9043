internal import Exports
internal import WatchwordCryptography

// The costs of a file are checked before memory or time is spent. They are authenticated at best
// with the derived key, so these ceilings are the only protection.
extension Decryption {
    private var limits: ExportLimits { .current }

    /// Derives a key with PBKDF2.
    func pbkdf2(
        _ algorithm: HashAlgorithm, _ password: SecretBytes, salt: SecretBytes, iterations: UInt64,
        count: Int = 32
    ) throws(ExportError) -> SecretBytes {
        guard iterations > 0 else { throw .damaged(format) }
        try check(.iterations, iterations, limits.iterations)
        do {
            return try salt.withBytes { salt throws(CryptographyFailure) in
                try WatchwordCryptography.pbkdf2(
                    algorithm, password: password, salt: salt, iterations: Int(iterations),
                    count: count)
            }
        } catch {
            throw unsupported
        }
    }

    /// A cost of scrypt that is within the limits.
    ///
    /// - Parameter derivations: The maximum number of derivations with this cost.
    func scryptCost(
        n: UInt64, r: UInt64, p: UInt64, derivations: Int = 1
    ) throws(ExportError) -> ScryptCost {
        guard n >= 2, n.nonzeroBitCount == 1, r > 0, p > 0 else { throw .damaged(format) }
        try check(.blockSize, r, 32)
        try check(.parallelism, p, ExportLimits.scryptParallelism)
        // RFC 7914, section 6.
        guard n.trailingZeroBitCount < 16 * Int(r) else { throw .damaged(format) }
        let (memory, isTooLarge) = n.multipliedReportingOverflow(by: 128 * r)
        try check(.memory, isTooLarge ? .max : memory, limits.memory)
        try check(.parallelism, p * UInt64(derivations), limits.scryptWork / memory)
        return ScryptCost(
            checkedLogN: n.trailingZeroBitCount, blockSize: Int(r), parallelism: Int(p))
    }

    /// Derives a key with scrypt.
    func scrypt(
        _ password: SecretBytes, salt: SecretBytes, _ cost: ScryptCost
    ) throws(ExportError) -> SecretBytes {
        do {
            return try salt.withBytes { salt throws(CryptographyFailure) in
                try WatchwordCryptography.scrypt(
                    passphrase: password, salt: salt, cost: cost, count: 32)
            }
        } catch {
            throw .outOfMemory
        }
    }

    /// Derives a key with Argon2.
    func argon2(
        _ variant: Argon2Variant, version: Argon2Version = .current, _ password: SecretBytes,
        salt: SecretBytes, kibibytes: UInt64, passes: UInt64, lanes: UInt64
    ) throws(ExportError) -> SecretBytes {
        guard passes > 0, lanes > 0, (8...1024).contains(salt.count) else {
            throw .damaged(format)
        }
        try check(.parallelism, lanes, ExportLimits.argon2Lanes)
        try check(.iterations, passes, ExportLimits.argon2Passes)
        guard kibibytes >= 8 * lanes else { throw .damaged(format) }
        let (bytes, isTooLarge) = kibibytes.multipliedReportingOverflow(by: 1024)
        try check(.memory, isTooLarge ? .max : bytes, limits.memory)
        try check(.iterations, passes, limits.argon2Work / bytes)
        let cost = Argon2Cost(
            kibibytes: Int(kibibytes), passes: Int(passes), lanes: Int(lanes))
        do {
            return try salt.withBytes { salt throws(ExportCryptographyError) in
                try ExportReading.argon2(
                    variant, version: version, password: password, salt: salt, cost: cost,
                    count: 32)
            }
        } catch {
            throw exportError(error)
        }
    }

    /// Derives a key with KeePass' AES-KDF.
    func aesKDF(
        _ key: SecretBytes, seed: SecretBytes, rounds: UInt64
    ) throws(ExportError) -> SecretBytes {
        try check(.iterations, rounds, limits.rounds)
        do {
            return digest(.sha256, of: try encryptRepeatedly(key, key: seed, rounds: rounds))
        } catch {
            throw exportError(error)
        }
    }

    /// The format's error for an error of libgcrypt's and libsodium's wrapper.
    func exportError(_ error: ExportCryptographyError) -> ExportError {
        switch error {
        case .length: .damaged(format)
        case .wrongKey: .wrongPassword(format)
        case .outOfMemory: .outOfMemory
        case .failed: unsupported
        }
    }

    private func check(
        _ limit: ExportLimit, _ found: UInt64, _ allowed: UInt64
    ) throws(ExportError) {
        guard found <= allowed else {
            throw .overLimit(format, limit, found: found, allowed: allowed)
        }
    }
}
