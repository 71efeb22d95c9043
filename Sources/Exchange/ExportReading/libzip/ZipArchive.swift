internal import CZip
internal import Exports
internal import Glibc
public import WatchwordCryptography
internal import WatchwordSystem

/// The members of a zip archive in memory.
///
/// Nothing is unpacked: a member is selected by its exact name and read into memory, so that paths
/// and links have no effect, and an archive inside an archive is never opened.
public struct ZipArchive: Sendable {
    /// The members in the order of the directory.
    public let members: [ZipMember]
    private let bytes: SecretBytes

    /// The maximum number of members.
    public static let mostMembers = 10_000

    /// Reads the archive's directory.
    public init(_ bytes: SecretBytes) throws(ContainerError) {
        self.bytes = bytes
        members = try bytes.withBytes { bytes throws(ContainerError) in
            let count = statedMemberCount(of: bytes)
            guard count <= ZipArchive.mostMembers else { throw .tooManyMembers(count) }
            return try unsafe bytes.withUnsafeBytes { bytes throws(ContainerError) in
                try unsafe OpenArchive(reading: bytes).members(atMost: ZipArchive.mostMembers)
            }
        }
    }

    /// The only member with this name; `nil` if there is none.
    public func member(named name: String) throws(ContainerError) -> ZipMember? {
        let found = members.filter { $0.name == name }
        // Which of two members an app would take depends on the app.
        guard found.count <= 1 else { throw .damaged }
        return found.first
    }

    /// Reads one member whole.
    ///
    /// A member may grow to 1 MiB, or to 100 times its compressed length beyond that.
    ///
    /// - Parameters:
    ///   - password: Ignored if the member is not encrypted.
    ///   - limit: The maximum length in bytes.
    public func read(
        _ member: ZipMember, password: SecretBytes?, limit: Int
    ) throws(ContainerError) -> SecretBytes {
        let length = try member.checkedLength(inArchiveOf: bytes.count, limit: limit)
        guard member.encryption != .unknown else { throw .unsupported }
        var needed: SecretBytes?
        if member.encryption != .none {
            guard let password else { throw .passwordNeeded }
            needed = password
        }
        return try bytes.withBytes { bytes throws(ContainerError) in
            try unsafe bytes.withUnsafeBytes { bytes throws(ContainerError) in
                let archive = try unsafe OpenArchive(reading: bytes)
                let file = try OpenMember(member, of: archive, password: needed)
                let content = try file.readWhole(length)
                try file.close()
                return content
            }
        }
    }
}

/// A member of an archive, as the archive's directory describes it.
public struct ZipMember: Hashable, Sendable {
    /// How a member is encrypted.
    enum Encryption: Hashable {
        case none, supported, unknown
    }

    /// The name as stored; bytes that are not UTF-8 are replaced.
    public let name: String
    /// The length in bytes that the directory states.
    public let length: UInt64
    let compressedLength: UInt64
    let encryption: Encryption
    let index: UInt64

    /// The stated length, checked against the limits before anything is allocated.
    func checkedLength(inArchiveOf count: Int, limit: Int) throws(ContainerError) -> Int {
        guard length <= UInt64(limit) else {
            throw .overLimit(.documentSize, found: length, allowed: UInt64(limit))
        }
        // A directory may state more compressed bytes than the archive has.
        let compressed = min(compressedLength, UInt64(count))
        let allowed = max(1 << 20, compressed * 100)
        guard length <= allowed else {
            throw .overLimit(.compressionRatio, found: length, allowed: allowed)
        }
        return Int(length)
    }
}

extension ContainerError {
    static func tooManyMembers(_ count: Int) -> ContainerError {
        .overLimit(
            .archiveMembers, found: UInt64(count), allowed: UInt64(ZipArchive.mostMembers))
    }
}

/// The largest number of members that an end-of-directory record states.
///
/// The library allocates memory for every member before it reports their number. This function
/// searches the same range as the library and examines each record that the library might choose.
/// More than 65,534 members are reported as 65,535, the mark for 64-bit records.
private func statedMemberCount(of bytes: Span<UInt8>) -> Int {
    let recordLength = 22
    guard bytes.count >= recordLength else { return 0 }
    var largest = 0
    let start = max(0, bytes.count - recordLength - Int(UInt16.max))
    for at in start...(bytes.count - recordLength)
    where bytes[at] == 0x50 && bytes[at + 1] == 0x4B && bytes[at + 2] == 5 && bytes[at + 3] == 6 {
        let commentLength = Int(bytes[at + 20]) | Int(bytes[at + 21]) << 8
        guard at + recordLength + commentLength <= bytes.count else { continue }
        largest = max(largest, Int(bytes[at + 10]) | Int(bytes[at + 11]) << 8)
    }
    return largest
}

/// Loads what libzip would otherwise load when it reads its first archive: the time zone, and
/// OpenSSL's configuration and algorithms.
///
/// A process calls this before it is confined. Its time zone is UTC from now on: libzip converts
/// the times of members, and the C library checks the file of any other zone each time.
///
/// - Returns: Whether the trial archive, whose member is encrypted with AES-256, could be read.
func prepareZipReading() throws -> Bool {
    unsafe setenv("TZ", "UTC0", 1)
    tzset()
    let password = SecretBytes(copying: Array("trial".utf8).span)
    let archive = try ZipArchive(Base64.decodeSecret(Array(trialArchive.utf8).span))
    guard let member = try archive.member(named: "trial") else { return false }
    return try archive.read(member, password: password, limit: 5) == password
}

/// Made with libzip 1.7.3: one stored member; its name, content and password are "trial".
private let trialArchive = """
    UEsDBDMAAQBjALSZdl0AAAAAIQAAAAUAAAAFAAsAdHJpYWwBmQcAAgBBRQMAAE9Q7SuDBBfdUch0/8zfJxJIPVjdZLJc\
    ciWZZb5e41MfeVBLAQI/AzMAAQBjALSZdl0AAAAAIQAAAAUAAAAFAAsAAAAAAAAAAAC2gQAAAAB0cmlhbAGZBwACAEFF\
    AwAAUEsFBgAAAAABAAEAPgAAAE8AAAAAAA==
    """

/// An archive that libzip has opened; closed on deinitialisation.
///
/// The bytes must outlive it.
@safe struct OpenArchive: ~Copyable {
    let handle: OpaquePointer

    init(reading bytes: UnsafeRawBufferPointer) throws(ContainerError) {
        var problem = unsafe zip_error_t()
        unsafe zip_error_init(&problem)
        defer { unsafe zip_error_fini(&problem) }
        guard
            let source = unsafe zip_source_buffer_create(
                bytes.baseAddress, UInt64(bytes.count), 0, &problem)
        else { throw .outOfMemory }
        guard let opened = unsafe zip_open_from_source(source, ZIP_RDONLY, &problem) else {
            unsafe zip_source_free(source)
            let code = unsafe zip_error_code_zip(&problem)
            throw ContainerError(code, isEncrypted: false)
        }
        unsafe handle = opened
    }

    // The archive was opened read-only; there is nothing to save.
    deinit { unsafe zip_discard(handle) }

    func members(atMost limit: Int) throws(ContainerError) -> [ZipMember] {
        let count = unsafe zip_get_num_entries(handle, 0)
        guard count >= 0 else { throw .damaged }
        guard count <= limit else { throw .tooManyMembers(Int(count)) }
        var members: [ZipMember] = []
        for index in 0..<UInt64(count) {
            var facts = unsafe zip_stat_t()
            unsafe zip_stat_init(&facts)
            let wanted =
                UInt64(ZIP_STAT_SIZE) | UInt64(ZIP_STAT_COMP_SIZE)
                | UInt64(ZIP_STAT_ENCRYPTION_METHOD)
            guard unsafe zip_stat_index(handle, index, 0, &facts) == 0,
                unsafe facts.valid & wanted == wanted,
                let name = unsafe zip_get_name(handle, index, ZIP_FL_ENC_RAW)
            else { throw .damaged }
            members.append(
                unsafe ZipMember(
                    name: String(cString: name), length: facts.size,
                    compressedLength: facts.comp_size,
                    encryption: ZipMember.Encryption(facts.encryption_method), index: index))
        }
        return members
    }
}

/// A member that is being read; closed on deinitialisation.
@safe struct OpenMember: ~Copyable {
    private let handle: OpaquePointer
    private let isEncrypted: Bool

    /// - Parameter password: `nil` if the member is not encrypted.
    init(
        _ member: ZipMember, of archive: borrowing OpenArchive, password: SecretBytes?
    ) throws(ContainerError) {
        isEncrypted = password != nil
        var opened: OpaquePointer?
        if let password {
            // The library takes the password as a C string.
            guard password.withBytes({ $0.firstIndex(of: 0, from: 0) == nil }) else {
                throw .wrongPassword
            }
            let terminated = SecretBytes(joining: [password, SecretBytes([0])])
            unsafe opened = terminated.withBytes { text in
                unsafe text.withUnsafeBytes { text in
                    unsafe zip_fopen_index_encrypted(
                        archive.handle, member.index, 0,
                        text.baseAddress?.assumingMemoryBound(to: CChar.self))
                }
            }
        } else {
            unsafe opened = zip_fopen_index(archive.handle, member.index, 0)
        }
        guard let ready = unsafe opened else {
            let code = unsafe zip_error_code_zip(zip_get_error(archive.handle))
            throw ContainerError(code, isEncrypted: isEncrypted)
        }
        unsafe handle = ready
    }

    deinit { unsafe zip_fclose(handle) }

    /// Reads exactly `length` bytes and then the end, where the library checks the checksum.
    func readWhole(_ length: Int) throws(ContainerError) -> SecretBytes {
        let content = try SecretBytes(capacity: length) { output throws(ContainerError) in
            try unsafe output.withUnsafeMutableBufferPointer {
                buffer, filled throws(ContainerError) in
                while filled < length {
                    let room = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled...])
                    let count = try unsafe read(into: room.baseAddress, room.count)
                    guard count > 0 else { throw damage }
                    filled += count
                }
            }
        }
        var excess: UInt8 = 0
        guard try unsafe read(into: &excess, 1) == 0 else { throw damage }
        return content
    }

    /// Closes the member; a failure means that its content is not to be trusted.
    consuming func close() throws(ContainerError) {
        let code = unsafe zip_fclose(handle)
        let isEncrypted = isEncrypted
        discard self
        guard code == 0 else { throw ContainerError(code, isEncrypted: isEncrypted) }
    }

    /// The error for content that contradicts the directory.
    private var damage: ContainerError { isEncrypted ? .wrongPassword : .damaged }

    private borrowing func read(
        into memory: UnsafeMutableRawPointer?, _ count: Int
    ) throws(ContainerError) -> Int {
        guard let memory = unsafe memory else { return 0 }
        let read = unsafe zip_fread(handle, memory, UInt64(count))
        guard read >= 0 else {
            let code = unsafe zip_error_code_zip(zip_file_get_error(handle))
            throw ContainerError(code, isEncrypted: isEncrypted)
        }
        return Int(read)
    }
}

extension ZipMember.Encryption {
    fileprivate init(_ method: UInt16) {
        switch Int32(method) {
        case ZIP_EM_NONE: self = .none
        case ZIP_EM_TRAD_PKWARE, ZIP_EM_AES_128, ZIP_EM_AES_192, ZIP_EM_AES_256:
            self = .supported
        default: self = .unknown
        }
    }
}

extension ContainerError {
    /// - Parameter isEncrypted: Whether a wrong password can be the cause. ZipCrypto accepts about
    ///   1 in 100 at first; the content or its checksum is then wrong.
    fileprivate init(_ code: Int32, isEncrypted: Bool) {
        self =
            switch code {
            case ZIP_ER_MEMORY: .outOfMemory
            case ZIP_ER_COMPNOTSUPP, ZIP_ER_ENCRNOTSUPP, ZIP_ER_OPNOTSUPP, ZIP_ER_MULTIDISK:
                .unsupported
            case ZIP_ER_NOPASSWD: .passwordNeeded
            case ZIP_ER_WRONGPASSWD: .wrongPassword
            default: isEncrypted ? .wrongPassword : .damaged
            }
    }
}
