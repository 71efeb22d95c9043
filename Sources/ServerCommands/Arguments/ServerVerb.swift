/// Everything that `watchword-server` can be told to do.
enum ServerVerb: String, CaseIterable, Hashable, Sendable {
    case serve
    case clientAdd = "client add"
    case clientList = "client list"
    case clientRevoke = "client revoke"
    case keysList = "keys list"
    case keysRotate = "keys rotate"
    case keysRetire = "keys retire"
    case auditVerify = "audit verify"
    case auditEnded = "audit ended"
    case backup
    case restore
    case openapi

    /// The word or words it is called by.
    var name: String { rawValue }

    /// What it works on; nothing for most.
    var operand: String? {
        switch self {
        case .clientAdd: "NAME"
        case .clientRevoke: "CLIENT"
        case .backup, .restore: "FILE"
        default: nil
        }
    }

    var options: [ServerOption] {
        switch self {
        case .serve:
            [
                .store, .keys, .listen, .opsListen, .tlsCertificate, .tlsKey, .insecureHTTP,
                .profile, .addressRate, .trustedProxy, .noClockCheck,
            ]
        case .clientAdd: [.store, .keys, .scope, .json]
        case .clientList, .clientRevoke, .keysList, .keysRotate, .keysRetire:
            [.store, .keys, .json]
        case .auditVerify: [.store, .keys, .checkpoint, .json]
        case .auditEnded: [.store]
        case .backup: [.store, .keys]
        case .restore: [.store, .keys, .ended, .keepClients]
        case .openapi: []
        }
    }

    /// The verb that `words` begin with, and how many of them name it.
    static func named(by words: [String]) -> (verb: ServerVerb, used: Int)? {
        for used in [2, 1] where words.count >= used {
            if let verb = ServerVerb(rawValue: words.prefix(used).joined(separator: " ")),
                !words[0].contains(" ")
            {
                return (verb, used)
            }
        }
        return nil
    }
}
