internal import COpenSSL

/// A certificate (RFC 5280).
public final class Certificate: Sendable {
    /// The maximum length in bytes.
    public static let longest = 4 << 10

    /// The certificate in DER.
    public let encoded: [UInt8]
    /// The version: 1, 2 or 3.
    public let version: Int
    /// Whether the subject has attributes.
    public let hasSubject: Bool
    /// The attributes of the subject, in their order, without those that are not text.
    public let subject: [NameAttribute]
    /// The extensions, in their order; each object identifier occurs once.
    public let extensions: [Extension]
    /// Whether the basic constraints say that the subject may issue certificates.
    public let isAuthority: Bool
    /// The object identifiers of the extended key usage; empty without that extension.
    public let extendedKeyUsage: [String]
    /// The attributes of the directory names in the subject's alternative name.
    public let alternativeNames: [NameAttribute]
    /// The subject's key; `nil` if its type is not supported.
    public let publicKey: PublicKey?

    let handle: CertificateHandle

    /// An attribute of a name.
    public struct NameAttribute: Hashable, Sendable {
        /// The object identifier, such as `2.5.4.3`.
        public let identifier: String
        /// The value.
        public let value: String
    }

    /// An extension.
    public struct Extension: Hashable, Sendable {
        /// The object identifier, such as `2.5.29.17`.
        public let identifier: String
        /// Whether a reader that does not know it must refuse the certificate.
        public let isCritical: Bool
        /// The content, in DER.
        public let value: [UInt8]
    }

    /// Reads a certificate that ends where `encoded` ends.
    public init(_ encoded: [UInt8]) throws(CryptographyError) {
        defer { ERR_clear_error() }
        guard encoded.count <= Self.longest else { throw .certificateTooLong }
        guard let parsed = CertificateHandle(encoded) else { throw .notACertificate }
        let extensions = try parsed.extensions()
        self.encoded = encoded
        self.extensions = extensions
        version = parsed.version
        hasSubject = parsed.hasSubject
        subject = parsed.subject
        isAuthority = parsed.isAuthority
        extendedKeyUsage = parsed.extendedKeyUsage
        alternativeNames = parsed.alternativeNames
        publicKey = parsed.publicKey
        handle = parsed
    }

    /// The extension with this object identifier.
    public func `extension`(_ identifier: String) -> Extension? {
        extensions.first { $0.identifier == identifier }
    }

    /// The subject's attributes with this object identifier.
    public func subjectValues(_ identifier: String) -> [String] {
        subject.filter { $0.identifier == identifier }.map(\.value)
    }
}
