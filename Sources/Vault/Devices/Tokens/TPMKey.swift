internal import WatchwordCryptography
package import WatchwordSystem

/// A key pair on P-256 that a TPM has made, as the vault keeps it: only that TPM can load it, and
/// it signs only for somebody who has its authorization value and, if the key has one, the PIN.
public struct TPMKey: Hashable, Sendable {
    /// The TPM's structure `TPM2B_PUBLIC`.
    public let publicArea: [UInt8]
    /// The TPM's structure `TPM2B_PRIVATE`, which the TPM has encrypted.
    public let privateArea: [UInt8]
    /// The persistent handle of the parent; 0 if the parent is derived anew each time.
    public let parent: UInt32
    /// The parent's Name, by which another TPM or another parent is recognised.
    public let parentName: [UInt8]
    /// Whether signing also requires a PIN, whose failures the TPM counts.
    public let requiresPIN: Bool

    /// The key's `TPMT_PUBLIC`, which follows its length.
    package var structure: [UInt8] { Array(publicArea.dropFirst(2)) }

    /// The number of bytes of an authorization value.
    public static let authorizationCount = 32
    /// The number of bytes of a public key.
    public static let pointCount = 65
    /// The maximum size of a signature in bytes.
    public static let longestSignature = 72
    /// The maximum size of a message in bytes.
    package static let longestMessage = 1400
    /// The maximum size of a structure in bytes.
    package static let largestArea = 512
    /// The maximum size of a Name in bytes.
    package static let longestName = 66

    /// Combines the parts; `nil` if a part is empty or too large.
    public init?(
        publicArea: [UInt8], privateArea: [UInt8], parent: UInt32, parentName: [UInt8],
        requiresPIN: Bool
    ) {
        guard (1...TPMKey.largestArea).contains(publicArea.count),
            (1...TPMKey.largestArea).contains(privateArea.count),
            (1...TPMKey.longestName).contains(parentName.count)
        else { return nil }
        self.publicArea = publicArea
        self.privateArea = privateArea
        self.parent = parent
        self.parentName = parentName
        self.requiresPIN = requiresPIN
    }
}

extension TPMKey: Transferable {
    package func write(to output: FrameWriter) {
        output.append(publicArea, privateArea, parent, parentName, requiresPIN)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let key = TPMKey(
            publicArea: try fields.data(bytes, limit: TPMKey.largestArea),
            privateArea: try fields.data(bytes, limit: TPMKey.largestArea),
            parent: try fields.value(bytes),
            parentName: try fields.data(bytes, limit: TPMKey.longestName),
            requiresPIN: try fields.flag(bytes))
        guard let key else { throw Unreadable() }
        self = key
    }
}

/// A secret that a TPM has sealed, as the vault file keeps it: only the TPM that made it can load
/// it.
public struct TPMObject: Hashable, Sendable {
    /// The TPM's structure `TPM2B_PUBLIC`.
    public let publicArea: [UInt8]
    /// The TPM's structure `TPM2B_PRIVATE`, which the TPM has encrypted.
    public let privateArea: [UInt8]
    /// Whether unsealing requires a PIN.
    public let requiresPIN: Bool
    /// Whether unsealing requires the value that PCR 7 had when the secret was sealed.
    public let isBoundToPCR7: Bool

    /// The maximum size of either structure, in bytes.
    package static let largestArea = 1024

    /// Combines the parts; `nil` if a structure is empty or too large.
    public init?(
        publicArea: [UInt8], privateArea: [UInt8], requiresPIN: Bool, isBoundToPCR7: Bool
    ) {
        guard (1...TPMObject.largestArea).contains(publicArea.count),
            (1...TPMObject.largestArea).contains(privateArea.count)
        else { return nil }
        self.publicArea = publicArea
        self.privateArea = privateArea
        self.requiresPIN = requiresPIN
        self.isBoundToPCR7 = isBoundToPCR7
    }
}

extension TPMObject: Transferable {
    package func write(to output: FrameWriter) {
        output.append(publicArea, privateArea, requiresPIN, isBoundToPCR7)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let object = TPMObject(
            publicArea: try fields.data(bytes, limit: TPMObject.largestArea),
            privateArea: try fields.data(bytes, limit: TPMObject.largestArea),
            requiresPIN: try fields.flag(bytes), isBoundToPCR7: try fields.flag(bytes))
        guard let object else { throw Unreadable() }
        self = object
    }
}

/// The address of a TPM.
///
/// The address is never read from a vault file: the library loads code by this name.
public struct TPMAddress: Hashable, Sendable {
    /// As in tpm2-tss: `device:PATH`, or `swtpm:host=…,port=…` for the emulator.
    public let text: String

    /// The kernel's resource manager for the computer's TPM.
    public static let standard = TPMAddress(unchecked: "device:/dev/tpmrm0")

    private init(unchecked text: String) { self.text = text }

    /// Parses the text; `nil` unless it has one of the two forms.
    public init?(_ text: String) {
        guard text.hasPrefix("device:/") || text.hasPrefix("swtpm:host="),
            text.utf8.count <= TPMAddress.longest,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        self.text = text
    }

    static let longest = 255

    /// The device's path; `nil` for the emulator.
    public var devicePath: String? {
        text.hasPrefix("device:") ? String(text.dropFirst("device:".count)) : nil
    }

    /// The TCP ports of the emulator, for messages and for controlling it; `nil` for a device.
    public var emulatorPorts: [UInt16]? {
        guard devicePath == nil else { return nil }
        let named = text.split(separator: ",").last { $0.hasPrefix("port=") }
        // tpm2-tss uses 2321 if no port is specified.
        let port = named.map { UInt16($0.dropFirst("port=".count)) } ?? 2321
        return port.map { [$0, $0 &+ 1] } ?? []
    }
}

extension TPMAddress: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard let address = TPMAddress(try fields.text(bytes, limit: TPMAddress.longest)) else {
            throw Unreadable()
        }
        self = address
    }
}

/// The certificates in the content of indices of a TPM's memory, in DER.
///
/// A certificate may begin in one index and end in the next index. What follows the last
/// certificate in an index is ignored, because some makers fill the rest with other bytes.
package func storedCertificates(in indices: [[UInt8]]) -> [[UInt8]] {
    let bytes = Array(indices.joined())
    var found: [[UInt8]] = []
    var (position, end) = (0, 0)
    for index in indices {
        position = max(position, end)
        end += index.count
        while position < end, let count = certificateCount(in: bytes[position...]) {
            found.append(Array(bytes[position..<position + count]))
            position += count
        }
    }
    return found
}

/// The size of the certificate at the beginning; `nil` if there is none, or not all of it.
private func certificateCount(in bytes: ArraySlice<UInt8>) -> Int? {
    // A sequence whose length has two bytes; no certificate is shorter.
    let head = Array(bytes.prefix(4))
    guard head.count == 4, head[0] == 0x30, head[1] == 0x82 else { return nil }
    let count = 4 + Int(head[2]) << 8 + Int(head[3])
    return count <= min(bytes.count, KeyAttestation.largestCertificate) ? count : nil
}
