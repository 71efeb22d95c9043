package import WatchwordSystem

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

/// Where a TPM is.
///
/// It is never read from a vault file: the library loads code by this name.
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
        // tpm2-tss uses 2321 if none is named.
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
