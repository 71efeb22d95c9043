package import SecretVault
package import WatchwordSystem

/// A step of moving the vault of the client's user to or from the system agent.
///
/// Each requires what opens the vault, except ``confirm(_:)``, which reveals nothing. While the vault is being moved, the agent keeps its copy, but
/// nobody can use it.
package enum VaultMove: Sendable {
    /// Stores a copy that cannot be used yet.
    case receive(VaultParcel, VaultOpener, ceiling: Int)
    /// Confirms that the agent has the vault in this state, so that the client can erase its own copy.
    case confirm(VaultIdentity)
    /// Makes the stored copy the user's vault, after the client has erased its own.
    case activate(VaultOpener, ceiling: Int)
    /// Sends a copy; from then on, the agent's cannot be used.
    case give(VaultOpener, ceiling: Int)
    /// Erases the agent's copy, which the client has stored in this state or a newer one.
    case discard(VaultOpener, VaultIdentity, ceiling: Int)
}

extension VaultMove: Transferable {
    enum Kind: UInt8, CaseIterable {
        case receive, confirm, activate, give, discard
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .receive(let parcel, let opener, let ceiling):
            output.append(choice: Kind.receive)
            output.append(parcel)
            output.append(opener)
            output.append(signed: Int64(ceiling))
        case .confirm(let identity):
            output.append(choice: Kind.confirm)
            output.append(identity)
        case .activate(let opener, let ceiling):
            output.append(choice: Kind.activate)
            output.append(opener)
            output.append(signed: Int64(ceiling))
        case .give(let opener, let ceiling):
            output.append(choice: Kind.give)
            output.append(opener)
            output.append(signed: Int64(ceiling))
        case .discard(let opener, let identity, let ceiling):
            output.append(choice: Kind.discard)
            output.append(opener)
            output.append(identity)
            output.append(signed: Int64(ceiling))
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .receive:
            self = .receive(
                try fields.value(bytes), try fields.value(bytes),
                ceiling: try AgentRequest.ceiling(&fields, bytes))
        case .confirm: self = .confirm(try fields.value(bytes))
        case .activate:
            self = .activate(
                try fields.value(bytes), ceiling: try AgentRequest.ceiling(&fields, bytes))
        case .give:
            self = .give(
                try fields.value(bytes), ceiling: try AgentRequest.ceiling(&fields, bytes))
        case .discard:
            self = .discard(
                try fields.value(bytes), try fields.value(bytes),
                ceiling: try AgentRequest.ceiling(&fields, bytes))
        }
    }
}
