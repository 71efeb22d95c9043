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
