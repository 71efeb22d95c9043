internal import WatchwordCryptography
internal import WatchwordSystem

/// The secret that was last presented for one enrolment, identified by digests.
///
/// If a device presents an older secret, the server assumes theft and has the enrolled secret
/// wiped.
public struct PresentedSecret: Hashable, Sendable {
    /// The length of ``enrolment`` in bytes.
    public static let enrolmentCount = 16
    static let digestCount = 32

    /// Identifies the enrolment: a digest of the server's address and the credential's name.
    public let enrolment: [UInt8]
    /// The generation of the secret that was presented.
    public let generation: UInt64
    /// A digest of that secret and of the nonce with which it was presented.
    public let digest: [UInt8]

    /// `enrolment` has ``enrolmentCount`` bytes, and `digest` 32 bytes.
    public init(enrolment: [UInt8], generation: UInt64, digest: [UInt8]) {
        precondition(
            enrolment.count == PresentedSecret.enrolmentCount
                && digest.count == PresentedSecret.digestCount, "digests have these lengths")
        self.enrolment = enrolment
        self.generation = min(generation, VaultLimits.number)
        self.digest = digest
    }
}

/// The content of the `enrolled` file: the secret that was last presented for each enrolment.
///
/// The file is not authenticated: like the `generation` file, it detects mistakes, but not
/// attackers who can change all files.
struct PresentedSecrets: Hashable {
    /// The last presented secret of each enrolment; the most recently presented one comes last.
    private(set) var all: [PresentedSecret] = []

    /// The maximum number of enrolments; the least recently used ones are dropped.
    static let limit = 1000
    static let sizeLimit = 1 << 18
    static let firstLine = Array("watchword-enrolled 1\n".utf8)

    subscript(enrolment: [UInt8]) -> PresentedSecret? {
        all.first { $0.enrolment == enrolment }
    }

    mutating func forget(_ enrolment: [UInt8]) { all.removeAll { $0.enrolment == enrolment } }

    mutating func add(_ presented: PresentedSecret) {
        forget(presented.enrolment)
        all.append(presented)
        all.removeFirst(max(all.count - PresentedSecrets.limit, 0))
    }

    /// Adds the secrets from `others` that are newer than those recorded here, or whose enrolment
    /// is not recorded here.
    mutating func add(_ others: PresentedSecrets) {
        for other in others.all {
            if let known = self[other.enrolment], known.generation >= other.generation { continue }
            add(other)
        }
    }

    /// The bytes of the file.
    func text() -> [UInt8] {
        var text = VaultText()
        text.write(PresentedSecrets.firstLine)
        for presented in all {
            text.write("presented ")
            text.writeBase64(presented.enrolment)
            text.write(" \(presented.generation) ")
            text.writeBase64(presented.digest)
            text.endLine()
        }
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        return text.bytes
    }

    init() {}

    /// Parses the bytes of a file.
    init(reading bytes: [UInt8]) throws(VaultError) {
        var line = LineReader(bytes)
        try line.next()
        try line.next()
        while line.isLine("presented") {
            try line.skip("presented")
            let enrolment = try line.base64(
                in: line.word(), count: PresentedSecret.enrolmentCount)
            let generation = try line.count()
            let digest = try line.base64(
                in: line.lastWord(), count: PresentedSecret.digestCount)
            guard self[enrolment] == nil, all.count < PresentedSecrets.limit else {
                throw line.damaged
            }
            all.append(
                PresentedSecret(enrolment: enrolment, generation: generation, digest: digest))
            try line.next()
        }
        guard bytes.starts(with: PresentedSecrets.firstLine),
            VaultEnvelope.lastLine(for: bytes[..<line.start])
                .elementsEqual(bytes[line.start...])
        else { throw .damaged(.checksum) }
    }
}

// The record belongs to the folder, not to one vault: it also detects an older secret in a copy of
// the vault with a different name.
extension UnlockedVault {
    /// The secret that was last presented for this enrolment; `nil` if that is unknown.
    ///
    /// - Throws: ``VaultError/inTheWay(name:)`` if an unrelated file has the record's name.
    public func lastPresented(of enrolment: [UInt8]) throws(VaultError) -> PresentedSecret? {
        try location.presented()[enrolment]
    }

    /// Records a secret; call this before it is presented.
    public func record(_ presented: PresentedSecret) throws(VaultError) {
        try location.changePresented { $0.add(presented) }
    }
}

extension VaultLocation {
    /// The secrets that the vaults in the folder presented last.
    func presented() throws(VaultError) -> PresentedSecrets {
        guard let folder = try openRootFolder() else { return PresentedSecrets() }
        return try PresentedSecrets(in: folder)
    }

    func changePresented(_ change: (inout PresentedSecrets) -> Void) throws(VaultError) {
        let folder = try makeRootFolder()
        // Another vault in this folder may be signing in at the same time.
        let lock = try VaultLocation.lock(
            VaultLocation.enrolledLock, in: folder, at: VaultLocation.rootParts,
            timeout: VaultWriter.timeout)
        var presented = try PresentedSecrets(in: folder)
        change(&presented)
        let text = presented.text()
        let file = FileReplacement(
            of: VaultLocation.enrolled, beginningWith: PresentedSecrets.firstLine)
        try VaultError.file(in: file.replace(with: text.span, in: folder, previous: .none)) {
            VaultLocation.path(of: $0, in: VaultLocation.rootParts)
        }
        _ = consume lock
    }
}

extension PresentedSecrets {
    /// Reads the record in the folder `.watchword`; empty if there is none.
    ///
    /// A damaged record is treated as missing: otherwise, no sign-in would be possible.
    fileprivate init(in folder: borrowing Folder) throws(VaultError) {
        let parts = VaultLocation.rootParts
        let bytes = try VaultLocation.read(
            VaultLocation.enrolled, in: folder, at: parts, limit: PresentedSecrets.sizeLimit)
        guard bytes?.starts(with: PresentedSecrets.firstLine) != false else {
            throw .inTheWay(name: VaultLocation.path(of: VaultLocation.enrolled, in: parts))
        }
        guard let bytes, let read = ifPossible(try PresentedSecrets(reading: bytes)) else {
            self.init()
            return
        }
        self = read
    }
}

/// The exclusive right to sign in with a vault's enrolled secrets; the kernel releases it when the
/// process dies.
///
/// Two concurrent sign-ins would each present a secret that the response to the other one replaces,
/// and the server would assume theft. Other changes to the vault are not blocked.
public struct LoginLock: ~Copyable, Sendable {
    private let lock: FileLock

    fileprivate init(_ lock: consuming FileLock) { self.lock = lock }

    /// Releases the lock; so does `deinit`.
    public consuming func end() {}
}

extension UnlockedVault {
    /// Acquires the lock, then reads the vault again.
    ///
    /// - Parameter timeout: how long to wait while another process signs in.
    /// - Throws: ``VaultError/busy`` if the other process does not finish in time.
    public func takeLoginLock(timeout: Duration = .seconds(30)) throws(VaultError) -> LoginLock {
        guard !isReadOnly else { throw .openedReadOnly }
        let turn = LoginLock(try lockForLogin(timeout: timeout))
        // Every decision must take the changes of the other process into account.
        try update { (_) throws(VaultError) in }
        return turn
    }

    private func lockForLogin(timeout: Duration) throws(VaultError) -> FileLock {
        try location.lock(
            VaultLocation.loginLock, in: location.makeStateFolder(), timeout: timeout)
    }
}
