public import Cryptography
public import Interchange
public import POSIX

/// The reader's side for an export: give up every right, then answer for one file.
public enum ExportLoop {
    /// The resources that a reader of exports may use.
    ///
    /// A key derivation may take 1 GiB. The file, its decrypted document and the document's values
    /// need a multiple of 128 MiB each.
    public static let limits = Confinement.Limits(
        addressSpace: 3 << 30, processorSeconds: Int(ExportProcess.timeout.components.seconds))

    /// Confines the process, reads one file, and reads it again for each password that follows.
    ///
    /// Whatever `read` needs from the file system must be loaded before, and a secret must have
    /// been created. If the process cannot be confined, it reports this and ends without reading
    /// the file.
    public static func run(
        limits: Confinement.Limits = limits,
        read: (SecretBytes, _ password: SecretBytes?) throws(ExportError) -> Export
    ) -> Never {
        ConfinedHelper.run(as: ExportProtocol.identity, limits: limits) {
            () throws(SystemCallFailure) in
            guard let file = try receiveFile() else { return }
            try ConfinedHelper.send(answer { () throws(ExportError) in try read(file, nil) })
            while let password = try receivePassword() {
                try ConfinedHelper.send(
                    answer { () throws(ExportError) in try read(file, password) })
            }
        }
    }

    private static func answer(_ read: () throws(ExportError) -> Export) -> [UInt8] {
        do {
            return ExportAnswer.bytes(for: try read())
        } catch {
            return ExportAnswer.bytes(for: error)
        }
    }

    /// The whole file; `nil` if standard input has ended.
    private static func receiveFile() throws(SystemCallFailure) -> SecretBytes? {
        var chunks: [SecretBytes] = []
        var total = 0
        while let count = try FileDescriptor.readCount(from: 0) {
            guard count > 0 else { return joined(chunks, count: total) }
            guard count <= ExportProtocol.largestChunk,
                count <= ExportProtocol.largestFile - total
            else { ConfinedHelper.refuseRequest() }
            guard let chunk = try receive(count) else { return nil }
            chunks.append(chunk)
            total += count
        }
        return nil
    }

    private static func receivePassword() throws(SystemCallFailure) -> SecretBytes? {
        guard let count = try FileDescriptor.readCount(from: 0) else { return nil }
        guard count <= ExportProtocol.longestPassword else {
            ConfinedHelper.refuseRequest()
        }
        return try receive(count)
    }

    private static func receive(_ count: Int) throws(SystemCallFailure) -> SecretBytes? {
        let bytes = try SecretBytes(capacity: count) { output throws(SystemCallFailure) in
            _ = try FileDescriptor.fill(&output, from: 0)
        }
        return bytes.count == count ? bytes : nil
    }

    private static func joined(_ chunks: [SecretBytes], count: Int) -> SecretBytes {
        SecretBytes(capacity: count) { output in
            for chunk in chunks { chunk.withBytes { output.append(copying: $0) } }
        }
    }
}
