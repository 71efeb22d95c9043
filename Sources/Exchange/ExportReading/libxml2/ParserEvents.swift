internal import CXML2
internal import WatchwordCryptography

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
