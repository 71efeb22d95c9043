internal import WatchwordSystem

/// What a reader can send that violates the pipe's protocol, whatever the file is, by name.
public let pipeLies: [String: @Sendable () -> Void] = [
    "nothing in a frame": { say(frame([])) },
    "frame of 4 GiB": { say([255, 255, 255, 255]) },
    "half a frame": {
        say([9, 0, 0, 0, 1])
        while true {}
    },
    "half a frame and gone": {
        say([9, 0, 0, 0, 1])
        ProcessEnd.atOnce(with: 0)
    },
    "endless": { while true { say([4, 0, 0, 0, 99, 0, 0, 0]) } },
    "close the pipe": {
        // Releasing the descriptor closes it.
        _ = FileDescriptor(owning: 1)
        while true {}
    },
]

/// Sends bytes to the parent.
public func say(_ bytes: [UInt8]) {
    do { try StandardStream.output.write(bytes.span) } catch { ProcessEnd.atOnce(with: 1) }
}

/// A frame with its count.
public func frame(_ body: [UInt8]) -> [UInt8] { UInt32(body.count).littleEndianBytes + body }

/// A field with a number of `width` bytes, big-endian.
public func number(_ value: UInt64, width: Int = 4) -> [UInt8] {
    (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
}

/// A field with a text.
public func text(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

/// A field with a string of bytes; `count` replaces the number of bytes.
public func string(_ bytes: [UInt8], count: Int? = nil) -> [UInt8] {
    number(UInt64(count ?? bytes.count)) + bytes
}

/// A field with a list; `count` replaces the number of elements.
public func list(_ elements: [[UInt8]], count: Int? = nil) -> [UInt8] {
    number(UInt64(count ?? elements.count)) + elements.flatMap(\.self)
}

/// Reads a file; calls `hasty` before the end of one that begins with “hasty”, and then hangs.
///
/// - Parameter skipping: How many bytes precede the content.
public func nextOrder(skipping: Int = 0, hasty: () -> Void) throws -> String? {
    var file: [UInt8] = []
    while true {
        var count: [UInt8] = []
        guard try FileDescriptor.read(exactly: 4, from: 0, appendingTo: &count) else {
            return nil
        }
        let size = count.reversed().reduce(0) { $0 << 8 | Int($1) }
        if size == 0 { break }
        guard try FileDescriptor.read(exactly: size, from: 0, appendingTo: &file) else {
            return nil
        }
        if file.starts(with: "hasty".utf8) {
            hasty()
            while true {}
        }
    }
    return String(decoding: file.dropFirst(skipping), as: UTF8.self)
}
