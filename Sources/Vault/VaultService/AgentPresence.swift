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
    private enum Kind: UInt8, Transferable {
        case none, opener, modules
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(Kind.none)
        case .opener(let opener): output.append(Kind.opener, opener)
        case .modules(let purpose): output.append(Kind.modules, purpose)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .none: .none
            case .opener: try fields.make(Self.opener, from: bytes)
            case .modules: try fields.make(Self.modules, from: bytes)
            }
    }
}
