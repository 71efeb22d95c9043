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
public func frame(_ body: [UInt8]) -> [UInt8] { number(body.count) + body }

/// A count of four bytes.
public func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
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
