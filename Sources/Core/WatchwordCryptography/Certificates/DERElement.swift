internal import COpenSSL

/// An element of DER (X.690): a tag, and the bytes inside.
public struct DERElement: Hashable, Sendable {
    /// The tag: the class and the number of the element's type.
    public let tag: Tag
    /// Whether the content consists of elements.
    public let isConstructed: Bool
    /// The content octets, without the tag and the length.
    public let content: [UInt8]

    /// The class and the number of an element's type (X.690, section 8.1.2).
    public enum Tag: Hashable, Sendable {
        /// A universal tag: a type that ASN.1 defines.
        case universal(Int)
        /// A context-specific tag: a number that a structure assigns to one of its parts.
        case context(Int)
        /// A tag of another class.
        case other

        /// `INTEGER`, whose universal tag is 2.
        public static let integer = Tag.universal(2)
        /// `OCTET STRING`, whose universal tag is 4.
        public static let octetString = Tag.universal(4)
        /// `ENUMERATED`, whose universal tag is 10.
        public static let enumerated = Tag.universal(10)
        /// `SEQUENCE`, whose universal tag is 16.
        public static let sequence = Tag.universal(16)
    }

    /// Reads elements one after another, up to the end of `bytes`.
    ///
    /// OpenSSL reads the tags and lengths. Lengths must be definite and in their shortest form.
    public static func read(_ bytes: [UInt8]) throws(CryptographyError) -> [DERElement] {
        var elements: [DERElement] = []
        var start = 0
        while start < bytes.count {
            let (element, end) = try readElement(bytes, from: start)
            elements.append(element)
            start = end
        }
        return elements
    }

    /// Reads one element that ends where `bytes` ends.
    public static func readOne(_ bytes: [UInt8]) throws(CryptographyError) -> DERElement {
        let elements = try read(bytes)
        guard elements.count == 1 else { throw .notDER }
        return elements[0]
    }

    /// The elements that the content consists of.
    public func children() throws(CryptographyError) -> [DERElement] {
        guard isConstructed else { throw .notDER }
        return try Self.read(content)
    }

    /// The number, if the element is an integer or an enumerated value that fits.
    public var number: Int64? {
        guard tag == .integer || tag == .enumerated, !isConstructed,
            (1...8).contains(content.count)
        else { return nil }
        // The shortest form: the first nine bits are not all equal.
        if content.count > 1, content[0] == (content[1] >= 0x80 ? 0xff : 0) { return nil }
        let sign: Int64 = content[0] >= 0x80 ? -1 : 0
        return content.reduce(sign) { $0 << 8 | Int64($1) }
    }

    private static func readElement(
        _ bytes: [UInt8], from start: Int
    ) throws(CryptographyError) -> (DERElement, end: Int) {
        // Our error has all the facts; do not let OpenSSL's error queue grow.
        defer { ERR_clear_error() }
        var length = 0
        var tag: Int32 = 0
        var kind: Int32 = 0
        var headCount = 0
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let first = unsafe bytes.baseAddress.map({ unsafe $0 + start }) else {
                return Int32(0x80)
            }
            var next: UnsafePointer<UInt8>? = unsafe first
            let result = unsafe ASN1_get_object(
                &next, &length, &tag, &kind, bytes.count - start)
            headCount = unsafe next.map { unsafe $0 - first } ?? 0
            return result
        }
        // Bit 7 reports an error, bit 0 an indefinite length.
        guard result & 0x81 == 0 else { throw .notDER }
        let isConstructed = result & 0x20 != 0
        let end = start + headCount + length
        guard end <= bytes.count,
            Int(ASN1_object_size(isConstructed ? 1 : 0, Int32(length), tag)) == end - start
        else { throw .notDER }
        let readTag: Tag =
            switch kind {
            case V_ASN1_UNIVERSAL: .universal(Int(tag))
            case V_ASN1_CONTEXT_SPECIFIC: .context(Int(tag))
            default: .other
            }
        let element = DERElement(
            tag: readTag, isConstructed: isConstructed,
            content: Array(bytes[(start + headCount)..<end]))
        return (element, end)
    }
}
