internal import Exports
internal import WatchwordCryptography
internal import WatchwordSystem

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
        return SecretBytes(capacity: pieces.reduce(0) { $0 + $1.count }) { output in
            for piece in pieces { piece.withBytes { output.append(copying: $0) } }
        }
    }
}

extension SecretBytes {
    fileprivate static let empty = SecretBytes(capacity: 0) { _ in }

    fileprivate var isWhiteSpace: Bool {
        withBytes { bytes in
            bytes.indices.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains(bytes[$0]) }
        }
    }
}
