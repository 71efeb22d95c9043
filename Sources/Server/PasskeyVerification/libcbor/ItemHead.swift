internal import CCBOR

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

    /// The length of the head in its shortest form (RFC 8949, section 4.2.1).
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
/// libcbor's stream decoder allocates nothing. Its other decoder, `cbor_load`, accepts what must be
/// refused here, and allocates what an array claims to hold.
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

/// What a callback was told.
private enum Found {
    case head(ItemHead)
    case refused(PasskeyError)
}

private func report(_ found: Found, to context: UnsafeMutableRawPointer?) {
    unsafe context?.assumingMemoryBound(to: Found?.self).pointee = found
}

/// Swift imports `size_t` as a signed integer.
private func members(_ count: Int) -> UInt64 { UInt64(UInt(bitPattern: count)) }

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
        unsafe callbacks.byte_string = { unsafe report(.head(.bytes(count: $2)), to: $0) }
        unsafe callbacks.string = { unsafe report(.head(.text(count: $2)), to: $0) }
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
