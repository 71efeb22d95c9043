internal import CCBOR

/// Reads CBOR items one after another.
///
/// Only one encoding of each value is accepted, except that the order of keys is checked only if
/// the caller asks for it. No memory is allocated for members that a header claims but that are not
/// present.
public struct CBORReader: Sendable {
    /// The index of the first byte that was not read.
    public private(set) var position: Int
    private let bytes: [UInt8]
    private var itemCount = 0

    /// Starts at `position`.
    ///
    /// - Throws: ``PasskeyError/overLimit(_:)`` if there are too many bytes.
    public init(_ bytes: [UInt8], from position: Int = 0) throws(PasskeyError) {
        precondition((0...bytes.count).contains(position), "the position is in the bytes")
        guard bytes.count - position <= CBORLimits.bytes else { throw .overLimit(.bytes) }
        self.bytes = bytes
        self.position = position
    }

    /// Reads the next item.
    ///
    /// If it is refused, the reader must not be used again.
    public mutating func next(keyOrder: CBORKeyOrder) throws(PasskeyError) -> CBORValue {
        try item(keyOrder, level: 0)
    }

    /// Verifies that no bytes are left.
    public func finish() throws(PasskeyError) {
        guard position == bytes.count else { throw .bytesLeft }
    }

    private mutating func item(
        _ keyOrder: CBORKeyOrder, level: Int
    ) throws(PasskeyError) -> CBORValue {
        itemCount += 1
        guard itemCount <= CBORLimits.items else { throw .overLimit(.items) }
        let (head, count) = try decodeItemHead(bytes.span.extracting(position...))
        let start = position + count
        switch head {
        case .unsigned(let value):
            position = start
            return .unsigned(value)
        case .negative(let argument):
            position = start
            return .negative(argument: argument)
        case .bytes(let length):
            position = start + length
            return .bytes(Array(bytes[start..<position]))
        case .text(let length):
            position = start + length
            guard let text = CBORText(Array(bytes[start..<position])) else { throw .notUTF8 }
            return .text(text)
        case .array(let members):
            position = start
            try check(members, level: level)
            var items: [CBORValue] = []
            for _ in 0..<members { items.append(try item(keyOrder, level: level + 1)) }
            return .array(items)
        case .map(let members):
            position = start
            try check(members, level: level)
            return .map(try map(members, keyOrder, level: level + 1))
        case .boolean(let value):
            position = start
            return .boolean(value)
        case .null:
            position = start
            return .null
        }
    }

    private func check(_ members: UInt64, level: Int) throws(PasskeyError) {
        guard level < CBORLimits.levels else { throw .overLimit(.levels) }
        guard members <= UInt64(CBORLimits.members) else { throw .overLimit(.members) }
    }

    private mutating func map(
        _ members: UInt64, _ keyOrder: CBORKeyOrder, level: Int
    ) throws(PasskeyError) -> CBORMap {
        var values: [CBORKey: CBORValue] = [:]
        var last: Range<Int>?
        for _ in 0..<members {
            let start = position
            guard let key = CBORKey(try item(keyOrder, level: level)) else { throw .keyType }
            let encoded = start..<position
            guard values[key] == nil else { throw .duplicateKey }
            if keyOrder == .canonical, let last,
                !bytes[last].lexicographicallyPrecedes(bytes[encoded])
            {
                throw .keyOrder
            }
            last = encoded
            values[key] = try item(keyOrder, level: level)
        }
        return CBORMap(values)
    }
}

/// Reads one item that ends where `bytes` ends.
public func readCBOR(
    _ bytes: [UInt8], keyOrder: CBORKeyOrder
) throws(PasskeyError) -> CBORValue {
    var reader = try CBORReader(bytes)
    let value = try reader.next(keyOrder: keyOrder)
    try reader.finish()
    return value
}

/// The limits for WebAuthn's objects; the largest known object has 8.6 kB.
private enum CBORLimits {
    /// The maximum length of the input in bytes.
    static let bytes = 16 << 10
    /// How deeply arrays and maps may be nested.
    static let levels = 4
    /// The maximum number of members of one array or map.
    static let members = 64
    /// The maximum number of items, keys included.
    static let items = 256
}

/// Whether the order of a map's keys is checked.
public enum CBORKeyOrder: Hashable, Sendable {
    /// The keys may have any order.
    case any
    /// The keys are sorted by their encoding (RFC 8949, section 4.2.1; for the keys that are
    /// accepted here, this is also CTAP2's canonical order).
    case canonical
}

/// The head of an item: its type, and its value or its length.
enum ItemHead {
    case unsigned(UInt64)
    case negative(argument: UInt64)
    /// The bytes follow the head, and all of them are present.
    case bytes(count: Int)
    /// The bytes follow the head, and all of them are present.
    case text(count: Int)
    case array(members: UInt64)
    case map(members: UInt64)
    case boolean(Bool)
    case null

    /// The length of the shortest encoding of the head (RFC 8949, section 4.2.1).
    fileprivate var shortestCount: Int {
        switch self {
        case .unsigned(let argument), .negative(let argument), .array(let argument),
            .map(let argument):
            Self.shortestCount(argument)
        case .bytes(let count), .text(let count): Self.shortestCount(UInt64(count))
        case .boolean, .null: 1
        }
    }

    /// The number of bytes of the string that follows the head.
    fileprivate var stringCount: Int {
        switch self {
        case .bytes(let count), .text(let count): count
        default: 0
        }
    }

    private static func shortestCount(_ argument: UInt64) -> Int {
        switch argument {
        case ..<24: 1
        case ..<(1 << 8): 2
        case ..<(1 << 16): 3
        case ..<(1 << 32): 5
        default: 9
        }
    }
}

/// Decodes the head of the first item, and returns the length of that head.
///
/// libcbor's stream decoder allocates nothing. Its other decoder, `cbor_load`, accepts encodings
/// that must be refused here, and allocates memory for as many items as an array claims to hold.
func decodeItemHead(_ bytes: Span<UInt8>) throws(PasskeyError) -> (ItemHead, count: Int) {
    guard !bytes.isEmpty else { throw .truncated }
    var found: Found?
    let result = unsafe withUnsafeMutablePointer(to: &found) { found in
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafePointer(to: Callbacks.all.value) { callbacks in
                unsafe cbor_stream_decode(bytes.baseAddress, bytes.count, callbacks, found)
            }
        }
    }
    switch result.status {
    case CBOR_DECODER_FINISHED: break
    case CBOR_DECODER_NEDATA: throw .truncated
    default: throw .notWellFormed
    }
    switch found {
    case .head(let head):
        let count = result.read - head.stringCount
        guard count == head.shortestCount else { throw .notShortest }
        return (head, count)
    case .refused(let error): throw error
    case nil: throw .notWellFormed
    }
}

/// The values that a callback received.
private enum Found {
    case head(ItemHead)
    case refused(PasskeyError)
}

private func report(_ found: Found, to context: UnsafeMutableRawPointer?) {
    unsafe context?.assumingMemoryBound(to: Found?.self).pointee = found
}

/// In older versions of libcbor, the numbers have the type `size_t`, which Swift imports as a
/// signed integer.
private func members(_ count: some BinaryInteger) -> UInt64 { UInt64(truncatingIfNeeded: count) }

/// The functions that the decoder calls.
// `@unchecked Sendable`: they are never changed.
@safe private struct Callbacks: @unchecked Sendable {
    static let all = Callbacks()

    let value: cbor_callbacks

    private init() {
        var callbacks = cbor_empty_callbacks
        unsafe callbacks.uint8 = { unsafe report(.head(.unsigned(UInt64($1))), to: $0) }
        unsafe callbacks.uint16 = { unsafe report(.head(.unsigned(UInt64($1))), to: $0) }
        unsafe callbacks.uint32 = { unsafe report(.head(.unsigned(UInt64($1))), to: $0) }
        unsafe callbacks.uint64 = { unsafe report(.head(.unsigned($1)), to: $0) }
        unsafe callbacks.negint8 = { unsafe report(.head(.negative(argument: UInt64($1))), to: $0) }
        unsafe callbacks.negint16 = {
            unsafe report(.head(.negative(argument: UInt64($1))), to: $0)
        }
        unsafe callbacks.negint32 = {
            unsafe report(.head(.negative(argument: UInt64($1))), to: $0)
        }
        unsafe callbacks.negint64 = { unsafe report(.head(.negative(argument: $1)), to: $0) }
        unsafe callbacks.byte_string = { unsafe report(.head(.bytes(count: Int($2))), to: $0) }
        unsafe callbacks.string = { unsafe report(.head(.text(count: Int($2))), to: $0) }
        unsafe callbacks.array_start = {
            unsafe report(.head(.array(members: members($1))), to: $0)
        }
        unsafe callbacks.map_start = { unsafe report(.head(.map(members: members($1))), to: $0) }
        unsafe callbacks.boolean = { unsafe report(.head(.boolean($1)), to: $0) }
        unsafe callbacks.null = { unsafe report(.head(.null), to: $0) }
        unsafe callbacks.byte_string_start = { unsafe report(.refused(.indefiniteLength), to: $0) }
        unsafe callbacks.string_start = { unsafe report(.refused(.indefiniteLength), to: $0) }
        unsafe callbacks.indef_array_start = { unsafe report(.refused(.indefiniteLength), to: $0) }
        unsafe callbacks.indef_map_start = { unsafe report(.refused(.indefiniteLength), to: $0) }
        unsafe callbacks.indef_break = { unsafe report(.refused(.notWellFormed), to: $0) }
        unsafe callbacks.tag = { context, _ in unsafe report(.refused(.tag), to: context) }
        unsafe callbacks.float2 = { context, _ in unsafe report(.refused(.float), to: context) }
        unsafe callbacks.float4 = { context, _ in unsafe report(.refused(.float), to: context) }
        unsafe callbacks.float8 = { context, _ in unsafe report(.refused(.float), to: context) }
        unsafe callbacks.undefined = { unsafe report(.refused(.simpleValue), to: $0) }
        value = callbacks
    }
}
