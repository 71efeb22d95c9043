package import SecretVault
package import WatchwordSystem

/// How presence is proved for an entry that requires it at each use.
package enum AgentPresence: Sendable {
    /// Not at all: unlocking the vault, or an earlier check on this connection, is enough.
    case none
    /// With the passphrase or the recovery key.
    case opener(VaultOpener)
    /// With the system's modules, which show this purpose.
    case modules(String)

    /// Whether nothing is proved.
    package var isNone: Bool { if case .none = self { true } else { false } }
}

extension AgentPresence: Transferable {
    private enum Kind: UInt8 {
        case none, opener, modules
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(choice: Kind.none)
        case .opener(let opener):
            output.append(choice: Kind.opener)
            output.append(opener)
        case .modules(let purpose):
            output.append(choice: Kind.modules)
            output.append(purpose)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .none: self = .none
        case .opener: self = .opener(try fields.value(bytes))
        case .modules: self = .modules(try fields.value(bytes))
        }
    }
}
