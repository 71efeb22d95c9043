internal import CXML2
internal import Exports
public import WatchwordCryptography
internal import WatchwordSystem

/// An element of an XML document.
public struct XMLElement: Sendable {
    /// The name without its prefix.
    public let name: String
    /// The namespace; `nil` if there is none or its prefix is not declared.
    public let namespace: String?
    /// The attributes without namespace declarations, in their order.
    public let attributes: [XMLAttribute]
    /// The elements directly inside, in their order.
    public let children: [XMLElement]
    /// The text directly inside, as UTF-8.
    ///
    /// White space between child elements is left out if there is nothing else.
    public let text: SecretBytes

    /// The first child with this local name.
    public subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The children with this local name.
    public func children(named name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }

    /// The value of the first attribute with this local name.
    public func attribute(_ name: String) -> SecretBytes? {
        attributes.first { $0.name == name }?.value
    }

    /// The value of an attribute that is known not to be secret: the copy is never wiped.
    public func attributeString(_ name: String) -> String? {
        guard let value = attribute(name) else { return nil }
        return value.plainString
    }

    /// The text if it is known not to be secret: the copy is never wiped.
    public var string: String { text.plainString }
}

/// An attribute of an element.
public struct XMLAttribute: Sendable {
    /// The name without its prefix.
    public let name: String
    /// The namespace; `nil` if there is none.
    public let namespace: String?
    /// The value as UTF-8.
    public let value: SecretBytes
}

extension SecretBytes {
    // The parser accepts only UTF-8.
    fileprivate var plainString: String {
        withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    }
}

extension XMLElement {
    /// The text without white space and line breaks at its ends, which are not part of a name,
    /// a number or an identifier in XML.
    var token: String {
        let inner = string.drop(while: \.isWhitespace)
        guard let last = inner.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(inner[...last])
    }
}

/// Builds the tree from the parser's events, and enforces the limits.
final class XMLTreeBuilder {
    /// The root element, once it is complete.
    private(set) var root: XMLElement?
    /// Why the parser was stopped.
    private(set) var refusal: ContainerError?
    private let limits: XMLLimits
    private var open: [OpenElement] = []
    private var elementCount = 0

    /// An element whose end has not been read.
    fileprivate struct OpenElement {
        let name: String
        let namespace: String?
        let attributes: [XMLAttribute]
        var children: [XMLElement] = []
        var pieces: [SecretBytes] = []
    }

    init(_ limits: XMLLimits) { self.limits = limits }

    /// Stops building; the first refusal is kept.
    func refuse(_ refusal: ContainerError) {
        if self.refusal == nil { self.refusal = refusal }
    }

    /// Begins an element, unless a limit is exceeded.
    func begin(_ name: String, namespace: String?, attributes: () -> [XMLAttribute]) {
        elementCount += 1
        guard elementCount <= limits.elements else {
            refuse(
                .overLimit(
                    .rows, found: UInt64(elementCount), allowed: UInt64(limits.elements)))
            return
        }
        guard open.count < limits.depth else {
            refuse(
                .overLimit(
                    .depth, found: UInt64(open.count + 1), allowed: UInt64(limits.depth)))
            return
        }
        open.append(
            OpenElement(name: name, namespace: namespace, attributes: attributes()))
    }

    /// Adds text to the innermost element.
    func append(_ text: Span<UInt8>) {
        // Outside the root there is only white space.
        guard !open.isEmpty else { return }
        open[open.count - 1].pieces.append(SecretBytes(copying: text))
    }

    /// Ends the innermost element.
    func end() {
        guard let element = open.popLast() else { return }
        let complete = XMLElement(
            name: element.name, namespace: element.namespace, attributes: element.attributes,
            children: element.children, text: element.text)
        if open.isEmpty {
            root = complete
        } else {
            open[open.count - 1].children.append(complete)
        }
    }
}

extension XMLTreeBuilder.OpenElement {
    /// The pieces as one text.
    fileprivate var text: SecretBytes {
        if pieces.isEmpty || !children.isEmpty && pieces.allSatisfy(\.isWhiteSpace) {
            return .empty
        }
        if pieces.count == 1 { return pieces[0] }
        return SecretBytes(joining: pieces)
    }
}

extension SecretBytes {
    fileprivate static let empty = SecretBytes(capacity: 0) { _ in }

    fileprivate var isWhiteSpace: Bool {
        withBytes { bytes in
            bytes.indices.allSatisfy { bytes[$0].isXMLSpace }
        }
    }
}

/// The functions that the parser calls.
///
/// No function handles declarations of entities, so no entity can be defined.
enum ParserEvents {
    static var handler: xmlSAXHandler {
        var handler = unsafe xmlSAXHandler()
        unsafe handler.initialized = UInt32(XML_SAX2_MAGIC)
        unsafe handler.startElementNs = beginElement
        unsafe handler.endElementNs = endElement
        unsafe handler.characters = addText
        unsafe handler.cdataBlock = addText
        // The same function, so that the parser does not guess which white space matters.
        unsafe handler.ignorableWhitespace = addText
        unsafe handler.internalSubset = refuseDocumentType
        // Without it, the parser prints its errors.
        unsafe handler.serror = { _, _ in }
        return unsafe handler
    }

    private static let beginElement: startElementNsSAX2Func = {
        context, name, _, namespace, _, _, count, _, values in
        guard let name = unsafe name else { return }
        unsafe withBuilder(context) { builder in
            unsafe builder.begin(
                String(cString: name), namespace: namespace.map { unsafe String(cString: $0) }
            ) {
                unsafe attributes(values, Int(count))
            }
        }
    }

    private static let endElement: endElementNsSAX2Func = { context, _, _, _ in
        unsafe withBuilder(context) { $0.end() }
    }

    private static let addText: charactersSAXFunc = { context, text, count in
        guard let text = unsafe text else { return }
        let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(count))
        unsafe withBuilder(context) { unsafe $0.append(bytes.span) }
    }

    private static let refuseDocumentType: internalSubsetSAXFunc = { context, _, _, _ in
        unsafe withBuilder(context) { $0.refuse(.documentType) }
    }

    /// Calls `body` with the builder, and stops the parser if something was refused.
    private static func withBuilder(
        _ context: UnsafeMutableRawPointer?, _ body: (XMLTreeBuilder) -> Void
    ) {
        guard let context = unsafe context?.assumingMemoryBound(to: xmlParserCtxt.self),
            let builder = unsafe context.pointee._private
        else { return }
        let tree = unsafe Unmanaged<XMLTreeBuilder>.fromOpaque(builder).takeUnretainedValue()
        guard tree.refusal == nil else { return }
        body(tree)
        if tree.refusal != nil { unsafe xmlStopParser(context) }
    }

    /// Each attribute is five pointers: name, prefix, namespace, and the value's start and end.
    private static func attributes(
        _ values: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: Int
    ) -> [XMLAttribute] {
        guard let values = unsafe values else { return [] }
        var attributes: [XMLAttribute] = []
        for first in stride(from: 0, to: 5 * count, by: 5) {
            guard let name = unsafe values[first], let start = unsafe values[first + 3],
                let end = unsafe values[first + 4]
            else { continue }
            let value = unsafe UnsafeBufferPointer(start: start, count: end - start)
            attributes.append(
                unsafe XMLAttribute(
                    name: String(cString: name),
                    namespace: values[first + 2].map { unsafe String(cString: $0) },
                    value: attributeValue(value.span)))
        }
        return attributes
    }

    /// Replaces `&#38;`, which the parser writes for every `&` because it substitutes no entities.
    private static func attributeValue(_ value: Span<UInt8>) -> SecretBytes {
        SecretBytes(capacity: value.count) { output in
            var at = 0
            while at < value.count {
                output.append(value[at])
                at += value[at] == UInt8(ascii: "&") && value.count - at >= 5 ? 5 : 1
            }
        }
    }
}
