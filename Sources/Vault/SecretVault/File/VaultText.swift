internal import WatchwordCryptography

/// Builds the lines of a vault file.
struct VaultText {
    private(set) var bytes: [UInt8] = []

    /// Appends ASCII text.
    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func write(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

    /// Appends `data` in Base64.
    mutating func writeBase64(_ data: [UInt8]) {
        bytes.append(contentsOf: Base64.encode(data.span))
    }

    mutating func endLine() { bytes.append(LineReader.lineFeed) }
}

/// Lines of the file that serve as associated data.
enum VaultLines {
    static func vault(_ id: [UInt8]) -> [UInt8] {
        var text = VaultText()
        text.write("vault ")
        text.writeBase64(id)
        text.endLine()
        return text.bytes
    }

    static func mac(_ mac: [UInt8]) -> [UInt8] {
        var text = VaultText()
        text.write("mac ")
        text.writeBase64(mac)
        text.endLine()
        return text.bytes
    }
}

extension VaultDocument {
    var macLine: [UInt8] { VaultLines.mac(mac) }
}
