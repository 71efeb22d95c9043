internal import CJansson
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// Owns a parsed text, which is wiped and freed with the value.
@safe struct JanssonDocument: ~Copyable {
    private let root: UnsafeMutablePointer<json_t>
    private let content: JSONContent
    /// The numbers of the text in their order, if the library reads all of them as doubles.
    private let numbers: [JSONValue]

    /// Parses strictly: no duplicates, whole numbers stay whole, nothing after the value.
    init(parsing text: Span<UInt8>, _ content: JSONContent) throws(JSONReadingError) {
        self.content = content
        let flags = JSON_REJECT_DUPLICATES | (content == .any ? JSON_ALLOW_NUL : 0)
        let parsed: UnsafeMutablePointer<json_t>
        do {
            unsafe parsed = try Self.parse(text, flags: flags)
            numbers = []
        } catch .notWhole where content != .strict {
            // The library refuses an integer beyond `Int64` unless it reads all numbers as
            // doubles, which represent whole numbers exactly up to 2^53.
            unsafe parsed = try Self.parse(text, flags: flags | JSON_DECODE_INT_AS_REAL)
            numbers = text.numbers()
        }
        unsafe root = parsed
    }

    private static func parse(
        _ text: Span<UInt8>, flags: Int32
    ) throws(JSONReadingError) -> UnsafeMutablePointer<json_t> {
        JanssonMemory.prepare()
        var problem = json_error_t()
        let parsed = unsafe text.withUnsafeBytes { text in
            // An empty span may have a null address.
            let none: StaticString = ""
            let bytes = unsafe text.baseAddress ?? UnsafeRawPointer(none.utf8Start)
            return unsafe json_loadb(
                bytes.assumingMemoryBound(to: CChar.self), text.count,
                Int(flags), &problem)
        }
        guard let ready = unsafe parsed else { throw error(of: problem) }
        return unsafe ready
    }

    deinit { unsafe json_decref(root) }

    func value() throws(JSONReadingError) -> JSONValue {
        var numbers = numbers[...]
        return try unsafe value(of: root, &numbers)
    }

    /// Converts a nested value.
    ///
    /// The recursion is as deep as the text, whose depth the caller limits.
    private func value(
        of json: UnsafeMutablePointer<json_t>, _ numbers: inout ArraySlice<JSONValue>
    ) throws(JSONReadingError) -> JSONValue {
        switch unsafe json.pointee.type {
        case JSON_OBJECT: return .object(try unsafe members(of: json, &numbers))
        case JSON_ARRAY:
            var elements: [JSONValue] = []
            for index in 0..<(unsafe json_array_size(json)) {
                guard let element = unsafe json_array_get(json, index) else { throw .noMemory }
                elements.append(try unsafe value(of: element, &numbers))
            }
            return .list(elements)
        case JSON_STRING:
            guard let start = unsafe json_string_value(json) else { throw .noMemory }
            let bytes = unsafe UnsafeRawBufferPointer(
                start: start, count: json_string_length(json))
            return .secret(unsafe SecretBytes(copying: bytes.bindMemory(to: UInt8.self).span))
        case JSON_INTEGER: return .number(Int64(unsafe json_integer_value(json)))
        case JSON_REAL:
            // 6.0 is an integer (JSON Schema 2020-12, section 6.1.1), as long as a double
            // represents it exactly.
            let real = unsafe json_real_value(json)
            switch numbers.popFirst() {
            case .number(let whole)?: return .number(whole)
            case .counter(let whole)?: return .counter(whole)
            default: break
            }
            if real.magnitude < 0x1p53, let whole = Int64(exactly: real) { return .number(whole) }
            guard content != .strict else { throw .notWhole }
            return .otherNumber
        case JSON_TRUE: return .flag(true)
        case JSON_FALSE: return .flag(false)
        case JSON_NULL: return .null
        // There are no other types.
        default: throw .notWhole
        }
    }

    private func members(
        of json: UnsafeMutablePointer<json_t>, _ numbers: inout ArraySlice<JSONValue>
    ) throws(JSONReadingError) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        members.reserveCapacity(unsafe json_object_size(json))
        var position = unsafe json_object_iter(json)
        while let current = unsafe position {
            guard let name = unsafe json_object_iter_key(current),
                let member = unsafe json_object_iter_value(current)
            else { throw .noMemory }
            // The library guarantees that names are UTF-8 without NUL.
            members.append((unsafe String(cString: name), try unsafe value(of: member, &numbers)))
            unsafe position = json_object_iter_next(json, current)
        }
        return members
    }

    private static func error(of problem: json_error_t) -> JSONReadingError {
        let position = Int(problem.position)
        let code = unsafe withUnsafePointer(to: problem) { unsafe json_error_code($0) }
        return switch code {
        case json_error_invalid_utf8: .notUTF8(at: position)
        case json_error_premature_end_of_input: .incomplete
        case json_error_end_of_input_expected: .trailing(at: position)
        case json_error_null_character, json_error_null_byte_in_key: .nul(at: position)
        case json_error_duplicate_key: .duplicateName(at: position)
        case json_error_numeric_overflow: .notWhole
        case json_error_out_of_memory: .noMemory
        default: .syntax(at: position)
        }
    }
}

/// The memory that jansson uses; it is wiped before it is freed, because texts may be secret.
enum JanssonMemory {
    // A `static let` is initialised once, before the first document is parsed.
    private static let isReady: Bool = {
        unsafe json_set_alloc_funcs(WipingAllocator.allocate, WipingAllocator.release)
        // Otherwise the first object reads a random number from a file.
        json_object_seed(0)
        return true
    }()

    /// Registers the functions with the library if this has not been done yet.
    static func prepare() { _ = isReady }
}

/// Loads what jansson would otherwise load when it reads its first text.
///
/// A process calls this before it is confined.
public func prepareJSONReading() { JanssonMemory.prepare() }
