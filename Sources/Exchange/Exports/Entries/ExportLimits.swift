/// The limits on reading an export; they far exceed what files of the supported apps need.
public struct ExportLimits: Hashable, Sendable {
    /// The maximum length in bytes of a file, and of a decrypted or decompressed document.
    public var bytes = 128 << 20
    /// The factor by which the maximum number of rows exceeds the standard number.
    public var rowFactor = 1
    /// The maximum number of values of a document.
    public var values = 2_000_000
    /// The maximum iterations of PBKDF2.
    public var iterations: UInt64 = 10_000_000
    /// The maximum rounds of KeePass' AES-KDF.
    public var rounds: UInt64 = 1 << 28
    /// The maximum memory of a key derivation in bytes.
    public var memory: UInt64 = 1 << 30
    /// The maximum product of scrypt's memory and its parallelism.
    public var scryptWork: UInt64 = 4 << 30
    /// The maximum product of Argon2's memory and its passes.
    public var argon2Work: UInt64 = 16 << 30
    /// The maximum length in bytes of the helper process's answer.
    public var answer = 64 << 20
    /// The maximum address space in bytes of the process that reads the file.
    ///
    /// The file, its decrypted document and the document's values need several times ``bytes``.
    public var addressSpace = 3 << 30
    /// How long reading the file with one password may take.
    public var time = Duration.seconds(240)

    /// The limits that apply unless the user asks for more.
    public static let standard = ExportLimits()

    /// The limits for a file that the user trusts.
    public static let raised: ExportLimits = {
        var limits = standard
        limits.bytes = 512 << 20
        limits.rowFactor = 10
        limits.values = 20_000_000
        limits.iterations = 1_000_000_000
        limits.rounds = 1 << 33
        limits.memory = 4 << 30
        limits.scryptWork = 64 << 30
        limits.argon2Work = 256 << 30
        limits.answer = 256 << 20
        limits.addressSpace = 16 << 30
        limits.time = .seconds(3600)
        return limits
    }()

    /// The maximum number of rows of a file in `format`.
    ///
    /// The limit for a list of key URIs is the same as without a helper process. An OATH users file
    /// has the keys of all users of a server.
    public func rows(of format: ExportFormat) -> Int {
        [.uriList, .oathUsersFile].contains(format) ? Self.longestList : 20_000 * rowFactor
    }

    /// The maximum parallelism of scrypt.
    public static let scryptParallelism: UInt64 = 16
    /// The maximum number of passes of Argon2.
    public static let argon2Passes: UInt64 = 1000
    /// The maximum number of lanes of Argon2.
    public static let argon2Lanes: UInt64 = 64

    /// The maximum number of rows of any file.
    public static let longestList = 200_000
}

extension ExportError {
    /// Whether ``ExportLimits/raised`` accepts what ``ExportLimits/standard`` refused.
    ///
    /// Several limits have the same kind; the allowed number identifies the limit that was
    /// exceeded.
    public var isWithinRaisedLimits: Bool {
        guard case .overLimit(_, let limit, let found, let allowed) = self else { return false }
        return limit.raisedMaximum(from: allowed).map { found <= $0 } ?? false
    }
}

extension ExportLimit {
    /// The raised maximum for the limit whose standard maximum is `allowed`; `nil` if it is the
    /// same.
    fileprivate func raisedMaximum(from allowed: UInt64) -> UInt64? {
        let (standard, raised) = (ExportLimits.standard, ExportLimits.raised)
        var limits: [(standard: UInt64, raised: UInt64)] = []
        switch self {
        case .fileSize, .documentSize:
            limits = [(UInt64(standard.bytes), UInt64(raised.bytes))]
        case .rows:
            limits = [
                (UInt64(standard.rows(of: .aegis)), UInt64(raised.rows(of: .aegis))),
                (UInt64(standard.values), UInt64(raised.values)),
                // An XML element counts as two values.
                (UInt64(standard.values) / 2, UInt64(raised.values) / 2),
            ]
        case .memory: limits = [(standard.memory, raised.memory)]
        case .iterations:
            limits = [
                (standard.iterations, raised.iterations), (standard.rounds, raised.rounds),
            ]
            // The maximum for Argon2's work limits its passes, depending on the memory; there is
            // also a fixed maximum.
            if allowed < ExportLimits.argon2Passes {
                let factor = raised.argon2Work / standard.argon2Work
                limits.append((allowed, min(allowed * factor, ExportLimits.argon2Passes)))
            }
        case .parallelism:
            // The maximum for scrypt's work limits its parallelism in the same way. The fixed
            // maximums are never raised.
            if allowed != ExportLimits.argon2Lanes, allowed != ExportLimits.scryptParallelism,
                allowed <= standard.scryptWork
            {
                limits = [(allowed, allowed * (raised.scryptWork / standard.scryptWork))]
            }
        case .compressionRatio, .archiveMembers, .depth, .blockSize: break
        }
        return limits.first { $0.standard == allowed }?.raised
    }
}
