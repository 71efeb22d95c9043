internal import CXML2
internal import Exports
public import WatchwordCryptography
internal import WatchwordSystem

/// Reads a small XML document in UTF-8.
///
/// The parser opens no network connections and no files, and accepts no document type, so it
/// recognises only the five predefined entities. Comments and processing instructions are dropped.
/// The library's own copies of the text are wiped when it frees them.
///
/// - Throws: ``ContainerError``, never content.
public func readXML(
    _ text: SecretBytes, limits: XMLLimits = XMLLimits()
) throws(ContainerError) -> XMLElement {
    XMLLibrary.prepare()
    return try text.withBytes { text throws(ContainerError) in
        try MarkupCheck(limits).check(text)
        return try unsafe text.withUnsafeBytes { text throws(ContainerError) in
            try unsafe XMLParser(reading: text).parse(limits)
        }
    }
}

/// Loads what the parser would otherwise load when it reads its first document.
///
/// A process calls this before it is confined.
///
/// - Returns: Whether a trial document could be read.
func prepareXMLReading() throws -> Bool {
    let trial = SecretBytes(copying: Array("<?xml version='1.0' encoding='UTF-8'?><a/>".utf8).span)
    return try readXML(trial).name == "a"
}

private enum XMLLibrary {
    // A `static let` is initialised once, before the first document is parsed.
    private static let isReady: Bool = {
        // The library can free with these functions what it allocated before.
        _ = unsafe xmlMemSetup(
            WipingAllocator.release, WipingAllocator.allocate, WipingAllocator.reallocate,
            WipingAllocator.duplicate)
        xmlInitParser()
        return true
    }()

    static func prepare() { _ = isReady }
}

/// A parser of libxml2; freed on deinitialisation.
///
/// The bytes must outlive it.
@safe private struct XMLParser: ~Copyable {
    private let context: xmlParserCtxtPtr

    init(reading text: UnsafeRawBufferPointer) throws(ContainerError) {
        guard let count = Int32(exactly: text.count),
            let made = unsafe xmlCreateMemoryParserCtxt(
                text.baseAddress?.assumingMemoryBound(to: CChar.self), count)
        else { throw .outOfMemory }
        unsafe context = made
    }

    deinit {
        unsafe xmlFreeParserCtxt(context)
        // The message of the last error may quote the text.
        xmlResetLastError()
    }

    consuming func parse(_ limits: XMLLimits) throws(ContainerError) -> XMLElement {
        let builder = XMLTreeBuilder(limits)
        // HUGE: without it, the library refuses texts over 10 MB. The limits here replace its own.
        // IGNORE_ENC: the text is UTF-8, whatever it declares.
        let options =
            XML_PARSE_NONET.rawValue | XML_PARSE_HUGE.rawValue | XML_PARSE_IGNORE_ENC.rawValue
            | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
        unsafe xmlCtxtUseOptions(context, Int32(bitPattern: options))
        unsafe context.pointee.sax.pointee = ParserEvents.handler
        withExtendedLifetime(builder) {
            // The events need the parser, to stop it, and find the builder in it.
            unsafe context.pointee.userData = UnsafeMutableRawPointer(context)
            unsafe context.pointee._private = Unmanaged.passUnretained(builder).toOpaque()
            unsafe xmlParseDocument(context)
        }
        if let refusal = builder.refusal { throw refusal }
        let code = unsafe xmlParserErrors(rawValue: UInt32(bitPattern: context.pointee.errNo))
        if code == XML_ERR_NO_MEMORY { throw .outOfMemory }
        guard unsafe context.pointee.wellFormed == 1, let root = builder.root else {
            throw code == XML_ERR_INVALID_ENCODING || code == XML_ERR_INVALID_CHAR
                ? .notUTF8 : .damaged
        }
        return root
    }
}

/// Limits for XML input.
public struct XMLLimits: Hashable, Sendable {
    /// The maximum length of the text in bytes.
    public let bytes: Int
    /// The maximum nesting depth of elements.
    public let depth: Int
    /// The maximum number of elements.
    public let elements: Int
    /// The maximum number of attributes, with namespace declarations, of one element.
    ///
    /// The library compares each attribute with every other attribute.
    public let attributes = 256

    /// Combines the limits.
    ///
    /// The defaults are those for another app's export. The text of one element is limited only by
    /// the length of the whole.
    public init(bytes: Int = 128 << 20, depth: Int = 64, elements: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
    }
}

/// Checks what the parser must never see, or what would make it slow, before it reads the text.
///
/// The result is correct for all well-formed XML. The parser refuses other text regardless.
struct MarkupCheck {
    private let limits: XMLLimits

    init(_ limits: XMLLimits) { self.limits = limits }

    func check(_ text: Span<UInt8>) throws(ContainerError) {
        guard text.count <= limits.bytes else {
            throw .overLimit(
                .documentSize, found: UInt64(text.count), allowed: UInt64(limits.bytes))
        }
        // The parser recognises other encodings by their first bytes, and loads converters for
        // them. A text in UTF-16 or UTF-32 contains NUL.
        guard text.firstIndex(of: 0, from: 0) == nil else { throw .notUTF8 }
        let start = text.holds("\u{FEFF}", at: 0) ? 3 : 0
        guard
            let first = text.indices.first(where: {
                $0 >= start && !text[$0].isXMLSpace
            }),
            text[first] == UInt8(ascii: "<")
        else { throw .damaged }
        var at = first
        while let opening = text.firstIndex(of: UInt8(ascii: "<"), from: at) {
            at = try checkMarkup(text, at: opening)
        }
    }

    /// Checks the markup at `start`, and returns the index after it.
    private func checkMarkup(_ text: Span<UInt8>, at start: Int) throws(ContainerError) -> Int {
        if text.holds("<!--", at: start) { return try end(of: "-->", in: text, from: start + 4) }
        if text.holds("<![CDATA[", at: start) {
            return try end(of: "]]>", in: text, from: start + 9)
        }
        if text.holds("<?", at: start) { return try end(of: "?>", in: text, from: start + 2) }
        if text.holds("<!", at: start) { throw .documentType }
        return try checkTag(text, at: start)
    }

    private func checkTag(_ text: Span<UInt8>, at start: Int) throws(ContainerError) -> Int {
        var count = 0
        var at = start + 1
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: ">"): return at + 1
            case UInt8(ascii: "="):
                count += 1
                guard count <= limits.attributes else {
                    throw .overLimit(
                        .rows, found: UInt64(count), allowed: UInt64(limits.attributes))
                }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let close = text.firstIndex(of: text[at], from: at + 1) else {
                    throw .damaged
                }
                at = close
            default: break
            }
            at += 1
        }
        throw .damaged
    }

    /// The index after the next `mark`.
    private func end(
        of mark: StaticString, in text: Span<UInt8>, from start: Int
    ) throws(ContainerError) -> Int {
        let mark = mark.description
        var at = start
        while let found = text.firstIndex(of: UInt8(ascii: ">"), from: at) {
            let beginning = found + 1 - mark.utf8.count
            if beginning >= start && text.holds(mark, at: beginning) { return found + 1 }
            at = found + 1
        }
        throw .damaged
    }
}

extension UInt8 {
    /// Whether the byte is white space in XML.
    var isXMLSpace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
}
