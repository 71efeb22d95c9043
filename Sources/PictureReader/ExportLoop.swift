public import Cryptography
public import POSIX

/// The reader's side for an export: give up every right, then answer for one file.
public enum ExportLoop {
    /// The resources that a reader of exports may use.
    ///
    /// A key derivation may take 1 GiB. The file, its decrypted document and the document's values
    /// need a multiple of 128 MiB each.
    public static let limits = Confinement.Limits(
        addressSpace: 3 << 30, processorSeconds: Int(ExportReader.timeout.components.seconds))

    /// The argument with which the program is started for an export.
    public static let task = ReaderProtocol.exportTask

    /// Confines the process, reads one file, and reads it again for each password that follows.
    ///
    /// Whatever `read` needs from the file system must be loaded before, and a secret must have
    /// been created. If the process cannot be confined, it reports this and ends without reading
    /// the file.
    public static func run(
        limits: Confinement.Limits = limits,
        read: (SecretBytes, _ password: SecretBytes?) -> ExportFinding
    ) -> Never {
        ReaderLoop.run(limits: limits) { () throws(SystemCallFailure) in
            guard let file = try receiveFile() else { return }
            try send(read(file, nil))
            while let password = try receivePassword() { try send(read(file, password)) }
        }
    }

    private static func send(_ finding: ExportFinding) throws(SystemCallFailure) {
        switch finding {
        case .picture(let finding): try ReaderLoop.send(Answer.bytes(for: finding))
        case .export(let export): try ReaderLoop.send(ExportAnswer.bytes(for: export))
        case .refused(let error): try ReaderLoop.send(ExportAnswer.bytes(for: error))
        }
    }

    /// The whole file; `nil` if standard input has ended.
    private static func receiveFile() throws(SystemCallFailure) -> SecretBytes? {
        var chunks: [SecretBytes] = []
        var total = 0
        while let count = try FileDescriptor.readCount(from: 0) {
            guard count > 0 else { return joined(chunks, count: total) }
            guard count <= ReaderProtocol.largestChunk,
                count <= ReaderProtocol.largestExport - total
            else { ProcessEnd.atOnce(with: ReaderLoop.Status.badRequest) }
            guard let chunk = try receive(count) else { return nil }
            chunks.append(chunk)
            total += count
        }
        return nil
    }

    private static func receivePassword() throws(SystemCallFailure) -> SecretBytes? {
        guard let count = try FileDescriptor.readCount(from: 0) else { return nil }
        guard count <= ReaderProtocol.longestPassword else {
            ProcessEnd.atOnce(with: ReaderLoop.Status.badRequest)
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
