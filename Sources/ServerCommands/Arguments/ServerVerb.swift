import Arguments

/// The commands of `watchword-server`.
enum ServerVerb: String, ProgramVerb {
    case serve
    case clientAdd = "client add"
    case clientList = "client list"
    case clientRenew = "client renew"
    case clientRevoke = "client revoke"
    case keysList = "keys list"
    case keysRotate = "keys rotate"
    case keysRetire = "keys retire"
    case auditVerify = "audit verify"
    case auditEnded = "audit ended"
    case backup
    case restore
    case openapi
    case completions
    case manual

    static let program = "watchword-server"
    static let global: [Option] = [.help, .version]

    static func check(_ arguments: ServerArguments) throws(UsageError) {
        guard !arguments.operands.contains("") else {
            throw .missingOperand(arguments.page.operands.placeholder)
        }
    }
}

typealias ServerArguments = ParsedArguments
