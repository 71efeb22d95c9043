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
    /// The attributes of the subject, in their order; attributes that are not text are left out.
    public let subject: [NameAttribute]
    /// The extensions, in their order; each object identifier occurs once.
    public let extensions: [Extension]
    /// Whether the basic constraints allow the subject to issue certificates.
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
        /// The value as text.
        public let value: String
    }

    /// An extension (RFC 5280, section 4.2).
    public struct Extension: Hashable, Sendable {
        /// The object identifier, such as `2.5.29.17`.
        public let identifier: String
        /// Whether a reader that does not recognise the extension must refuse the certificate.
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

// `@unchecked Sendable`: OpenSSL counts references atomically. ``Certificate`` makes it read the
// extensions; after that, the certificate is not changed.
/// OpenSSL's certificate.
@safe final class CertificateHandle: @unchecked Sendable {
    private let handle: OpaquePointer

    init?(_ encoded: [UInt8]) {
        let made: OpaquePointer? = unsafe encoded.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var next: UnsafePointer<UInt8>? = unsafe start
            let certificate = unsafe d2i_X509(nil, &next, bytes.count)
            guard unsafe next == start + bytes.count else {
                unsafe X509_free(certificate)
                return nil
            }
            return unsafe certificate
        }
        guard let made = unsafe made else { return nil }
        unsafe handle = made
        guard isEncodedAs(encoded) else { return nil }
    }

    deinit { unsafe X509_free(handle) }

    func withHandle<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(handle)
    }

    /// OpenSSL also reads BER; the signature covers only the inner part.
    private func isEncodedAs(_ encoded: [UInt8]) -> Bool {
        guard unsafe i2d_X509(handle, nil) == Int32(encoded.count) else { return false }
        var written = [UInt8](repeating: 0, count: encoded.count)
        let count = unsafe written.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe i2d_X509(handle, &next)
        }
        return count == Int32(encoded.count) && written == encoded
    }

    var version: Int { unsafe X509_get_version(handle) + 1 }

    /// Whether the subject has an attribute, even one that is not text.
    var hasSubject: Bool {
        unsafe X509_NAME_entry_count(X509_get_subject_name(handle)) > 0
    }

    var subject: [Certificate.NameAttribute] {
        unsafe Self.attributes(of: X509_get_subject_name(handle))
    }

    func extensions() throws(CryptographyError) -> [Certificate.Extension] {
        // Makes OpenSSL read the extensions that it supports.
        guard unsafe X509_check_purpose(handle, -1, 0) == 1,
            unsafe X509_get_extension_flags(handle) & UInt32(EXFLAG_INVALID) == 0
        else { throw .certificateExtensions }
        var extensions: [Certificate.Extension] = []
        for index in 0..<max(unsafe X509_get_ext_count(handle), 0) {
            guard let found = unsafe X509_get_ext(handle, index),
                let value = unsafe X509_EXTENSION_get_data(found),
                let identifier = unsafe Self.text(of: X509_EXTENSION_get_object(found))
            else { throw .certificateExtensions }
            guard !extensions.contains(where: { $0.identifier == identifier }) else {
                throw .certificateExtensions
            }
            extensions.append(
                unsafe Certificate.Extension(
                    identifier: identifier,
                    isCritical: X509_EXTENSION_get_critical(found) == 1,
                    value: Self.bytes(of: UnsafePointer(value))))
        }
        return extensions
    }

    var isAuthority: Bool {
        unsafe X509_get_extension_flags(handle) & UInt32(EXFLAG_CA) != 0
    }

    var extendedKeyUsage: [String] {
        guard let found = unsafe X509_get_ext_d2i(handle, NID_ext_key_usage, nil, nil) else {
            return []
        }
        let stack = OpaquePointer(found)
        defer {
            unsafe OPENSSL_sk_pop_free(stack) {
                unsafe ASN1_OBJECT_free($0.map(OpaquePointer.init))
            }
        }
        return (0..<max(unsafe OPENSSL_sk_num(stack), 0)).compactMap { index in
            unsafe Self.text(of: OPENSSL_sk_value(stack, index).map(OpaquePointer.init))
        }
    }

    var alternativeNames: [Certificate.NameAttribute] {
        guard let found = unsafe X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else {
            return []
        }
        let stack = OpaquePointer(found)
        defer { unsafe GENERAL_NAMES_free(stack) }
        return (0..<max(unsafe OPENSSL_sk_num(stack), 0)).flatMap { index in
            guard let value = unsafe OPENSSL_sk_value(stack, index) else {
                return [Certificate.NameAttribute]()
            }
            var type: Int32 = 0
            let name = unsafe GENERAL_NAME_get0_value(
                value.assumingMemoryBound(to: GENERAL_NAME.self), &type)
            guard type == GEN_DIRNAME else { return [] }
            return unsafe Self.attributes(of: name.map(OpaquePointer.init))
        }
    }

    var publicKey: PublicKey? {
        var algorithm: OpaquePointer?
        var bytes: UnsafePointer<UInt8>?
        var count: Int32 = 0
        var parameters: UnsafeMutablePointer<X509_ALGOR>?
        guard
            unsafe X509_PUBKEY_get0_param(
                &algorithm, &bytes, &count, &parameters, X509_get_X509_PUBKEY(handle)) == 1,
            let start = unsafe bytes
        else { return nil }
        let encoded = unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
        switch unsafe OBJ_obj2nid(algorithm) {
        case NID_X9_62_id_ecPublicKey:
            var type: Int32 = 0
            var value: UnsafeRawPointer?
            unsafe X509_ALGOR_get0(nil, &type, &value, parameters)
            // Any other parameters describe a custom curve.
            guard type == V_ASN1_OBJECT, let object = unsafe value.map(OpaquePointer.init) else {
                return nil
            }
            let number = unsafe OBJ_obj2nid(object)
            return EllipticCurve.allCases.first { $0.openSSLNumber == number }
                .map { .ellipticCurve($0, point: encoded) }
        case NID_rsaEncryption:
            guard let key = unsafe X509_get0_pubkey(handle),
                let modulus = unsafe Self.number("n", of: key),
                let exponent = unsafe Self.number("e", of: key)
            else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case NID_ED25519: return .ed25519(encoded)
        default: return nil
        }
    }

    private static func number(_ name: StaticString, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key, cString(name), &number) == 1 else { return nil }
        defer { unsafe BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(unsafe BN_num_bits(number) + 7) / 8)
        guard unsafe BN_bn2bin(number, &bytes) == Int32(bytes.count) else { return nil }
        return bytes
    }

    private static func attributes(of name: OpaquePointer?) -> [Certificate.NameAttribute] {
        (0..<max(unsafe X509_NAME_entry_count(name), 0)).compactMap { index in
            let entry = unsafe X509_NAME_get_entry(name, index)
            guard let identifier = unsafe text(of: X509_NAME_ENTRY_get_object(entry)) else {
                return nil
            }
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = unsafe ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry))
            guard count >= 0, let start = unsafe bytes else { return nil }
            defer { unsafe CRYPTO_free(start, "Certificate", 0) }
            let value = unsafe UnsafeBufferPointer(start: start, count: Int(count))
            return unsafe Certificate.NameAttribute(
                identifier: identifier, value: String(decoding: value, as: UTF8.self))
        }
    }

    /// An object identifier in dotted decimal form.
    private static func text(of object: OpaquePointer?) -> String? {
        guard let object = unsafe object else { return nil }
        var text = [CChar](repeating: 0, count: 256)
        let count = unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1)
        guard count > 0, count < text.count else { return nil }
        return String(
            decoding: text.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        unsafe Array(
            UnsafeBufferPointer(
                start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }
}
