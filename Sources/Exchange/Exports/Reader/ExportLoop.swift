internal import ProcessConfinement
public import WatchwordCryptography
internal import WatchwordSystem

/// The reader's side of the protocol: confines the process, then answers for one file.
public enum ExportLoop {
    /// The argument with which the program accepts larger files and costlier encryption.
    public static let raisedLimits = ExportProtocol.raisedLimits

    /// Confines the process, reads one file, and reads it again for each password that follows.
    ///
    /// Before the call, load whatever `read` needs from the file system, and create a secret: the
    /// first secret makes a system call that a confined process must not make. If the process
    /// cannot be confined, it reports this and ends without reading the file.
    public static func run(
        limits: ExportLimits = .standard,
        read: (ExportSource, _ password: SecretBytes?) throws(ExportError) -> Export
    ) -> Never {
        ConfinedHelper.run(as: ExportProtocol.identity, limits: Confinement.Limits(limits)) {
            () throws(SystemCallFailure) in
            guard let source = try receiveSource(limits) else { return }
            func answer(_ password: SecretBytes?) throws(SystemCallFailure) {
                let answer: ExportAnswer
                do throws(ExportError) { answer = .export(try read(source, password)) } catch {
                    answer = .refused(error)
                }
                try ConfinedHelper.send(answer.frame(limit: limits.answer))
            }
            try answer(nil)
            while let password = try receivePassword() { try answer(password) }
        }
    }

    /// Receives the file with its name, manifest and key file; `nil` if standard input has ended.
    private static func receiveSource(
        _ limits: ExportLimits
    ) throws(SystemCallFailure) -> ExportSource? {
        var parts: [ExportPart: SecretBytes] = [:]
        while let kind = try receiveKind() {
            guard parts[kind] == nil else { ConfinedHelper.refuseRequest() }
            let limit = kind == .file ? limits.bytes : ExportProtocol.largestPart
            guard let content = try receiveContent(limit: limit) else { return nil }
            parts[kind] = content
            guard kind == .file else { continue }
            var name = ""
            if let bytes = parts[.name] {
                name = bytes.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
            }
            return ExportSource(
                content, name: name, manifest: parts[.manifest], keyFile: parts[.keyFile])
        }
        return nil
    }

    private static func receiveKind() throws(SystemCallFailure) -> ExportPart? {
        guard let count = try FileDescriptor.readCount(from: 0) else { return nil }
        guard count == 1 else { ConfinedHelper.refuseRequest() }
        guard let bytes = try receive(count) else { return nil }
        guard let kind = ExportPart(rawValue: bytes.withBytes { $0[0] }) else {
            ConfinedHelper.refuseRequest()
        }
        return kind
    }

    private static func receiveContent(limit: Int) throws(SystemCallFailure) -> SecretBytes? {
        var chunks: [SecretBytes] = []
        var total = 0
        while let count = try FileDescriptor.readCount(from: 0) {
            guard count > 0 else { return SecretBytes(joining: chunks) }
            guard count <= ExportProtocol.largestChunk, count <= limit - total else {
                ConfinedHelper.refuseRequest()
            }
            guard let chunk = try receive(count) else { return nil }
            chunks.append(chunk)
            total += count
        }
        return nil
    }

    private static func receivePassword() throws(SystemCallFailure) -> SecretBytes? {
        guard let count = try FileDescriptor.readCount(from: 0) else { return nil }
        guard count <= ExportProtocol.longestPassword else { ConfinedHelper.refuseRequest() }
        return try receive(count)
    }

    private static func receive(_ count: Int) throws(SystemCallFailure) -> SecretBytes? {
        let bytes = try SecretBytes(capacity: count) { output throws(SystemCallFailure) in
            _ = try FileDescriptor.fill(&output, from: 0)
        }
        return bytes.count == count ? bytes : nil
    }
}

extension Confinement.Limits {
    /// The resources of a process that reads a file with these limits.
    init(_ limits: ExportLimits) {
        self.init(
            addressSpace: limits.addressSpace,
            processorSeconds: Int(limits.time.components.seconds))
    }
}
