package import SecretVault
package import WatchwordSystem

/// A step of moving the vault of the client's user to or from the system agent.
///
/// Each step requires the passphrase, key or device that opens the vault, except ``confirm(_:)``,
/// which reveals nothing. While the vault is being moved, the agent keeps its copy, but the copy
/// cannot be used.
package enum VaultMove: Sendable {
    /// Stores a copy in the agent that cannot be used yet.
    case receive(VaultParcel, VaultOpener, ceiling: Int)
    /// Confirms that the agent has the vault in this state, so that the client can erase its own
    /// copy.
    case confirm(VaultIdentity)
    /// Makes the stored copy the user's vault, after the client has erased its own, and binds its
    /// entries to a key of the agent's.
    case activate(VaultOpener, ceiling: Int)
    /// Sends a copy to the client; from then on, the agent's copy cannot be used.
    case give(VaultOpener, ceiling: Int)
    /// Erases the agent's copy, which the client has stored in this state or a newer one.
    case discard(VaultOpener, VaultIdentity, ceiling: Int)
}

extension VaultMove: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case receive, confirm, activate, give, discard
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .receive(let parcel, let opener, let ceiling):
            output.append(Kind.receive, parcel, opener, ceiling)
        case .confirm(let identity): output.append(Kind.confirm, identity)
        case .activate(let opener, let ceiling): output.append(Kind.activate, opener, ceiling)
        case .give(let opener, let ceiling): output.append(Kind.give, opener, ceiling)
        case .discard(let opener, let identity, let ceiling):
            output.append(Kind.discard, opener, identity, ceiling)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .receive: try fields.make(Self.receive, from: bytes)
            case .confirm: try fields.make(Self.confirm, from: bytes)
            case .activate: try fields.make(Self.activate, from: bytes)
            case .give: try fields.make(Self.give, from: bytes)
            case .discard: try fields.make(Self.discard, from: bytes)
            }
        switch self {
        case .receive(_, _, let ceiling), .activate(_, let ceiling), .give(_, let ceiling),
            .discard(_, _, let ceiling):
            guard AgentRequest.ceilings.contains(ceiling) else { throw Unreadable() }
        case .confirm: break
        }
    }
}
