internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// A format of JSON exports: how it is recognised, and how it is read.
struct JSONFormat: Sendable {
    typealias Marks = @Sendable (JSONValue) -> Bool
    typealias Reading = @Sendable (JSONValue, SecretBytes?) throws(ExportError) -> ExportRows

    /// Whether a document that is not a list has this format.
    private let isDocument: Marks
    /// Whether a list with this element has this format.
    private let isElement: Marks
    /// Reads a document; the second argument is the export's password, if the user gave one.
    let read: Reading

    init(
        isDocument: @escaping Marks = { _ in false }, isElement: @escaping Marks = { _ in false },
        read: @escaping Reading
    ) {
        self.isDocument = isDocument
        self.isElement = isElement
        self.read = read
    }

    /// A format that is never encrypted.
    init(
        isDocument: @escaping Marks = { _ in false }, isElement: @escaping Marks = { _ in false },
        plain: @escaping @Sendable (JSONValue) throws(ExportError) -> ExportRows
    ) {
        self.init(isDocument: isDocument, isElement: isElement) {
            document, _ throws(ExportError) in try plain(document)
        }
    }

    /// A simple format: a list of objects with these fields.
    ///
    /// - Parameter adjust: What the fields cannot express.
    init(
        _ format: ExportFormat, isElement: @escaping Marks = { _ in false }, fields: [RowField],
        adjust: @escaping @Sendable (inout ExportRow, JSONFields) -> Void = { _, _ in }
    ) {
        self.init(
            isElement: isElement,
            plain: { document throws(ExportError) in
                guard let elements = document.elements else { throw .damaged(format) }
                var rows = ExportRows(format)
                try rows.append(elements) { row, members throws(ExportRowRefusal) in
                    try row.fill(fields, from: members)
                    adjust(&row, members)
                }
                return rows
            })
    }

    /// The format of a document; `nil` if it is unknown.
    init?(_ document: JSONValue) {
        var format: JSONFormat?
        if let elements = document.elements {
            // A row of another shape must not hide the format.
            for element in elements where format == nil {
                format = Self.all.first { $0.isElement(element) }
            }
        } else {
            format = Self.all.first { $0.isDocument(document) }
        }
        guard let format else { return nil }
        self = format
    }
}

extension JSONValue {
    /// Whether it has members with all these names.
    func has(_ names: String...) -> Bool { names.allSatisfy { self[$0] != nil } }
}

extension JSONValue? {
    /// Whether it is a list with an element that has this member, or this member of a member.
    func contains(_ path: String...) -> Bool {
        self?.elements?.contains { element in
            path.reduce(element) { value, name in value?[name] } != nil
        } ?? false
    }
}
