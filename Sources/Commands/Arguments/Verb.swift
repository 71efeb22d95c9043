import Arguments

/// The commands of `watchword`.
enum Verb: String, ProgramVerb {
    case initialize = "init"
    case add
    case importing = "import"
    case code
    case watch
    case list
    case show
    case edit
    case rename
    case remove
    case export
    case passphrase
    case rekey
    case slotList = "slot list"
    case slotAdd = "slot add"
    case slotRemove = "slot remove"
    case check
    case loginEnrol = "login enrol"
    case loginPresent = "login present"
    case loginStatus = "login status"
    case loginWipe = "login wipe"
    case totp
    case hotp
    case verify
    case qrRead = "qr read"
    case qrWrite = "qr write"
    case completions
    case manual

    static let program = "watchword"
    static let global = Option.global

    static func check(_ arguments: ParsedArguments) throws(UsageError) {
        let first = arguments.page.operands.firstName
        let hasBlankName = arguments.operands.enumerated().contains { position, operand in
            position >= first && EntryName.isBlank(operand)
        }
        guard !hasBlankName else { throw .emptyName }
        try arguments.checkStandardInput()
    }
}

typealias ArgumentParser = Arguments.ArgumentParser<Verb>
typealias HelpPage = Arguments.HelpPage<Verb>
typealias ManualPage = Arguments.ManualPage<Verb>
typealias CompletionScript = Arguments.CompletionScript<Verb>

extension ParsedArguments {
    /// Refuses two options that both read standard input or both write to standard output.
    fileprivate func checkStandardInput() throws(UsageError) {
        let streams = given.filter { $0.value == "-" && $0.option.value == .file }.map(\.option)
        guard streams.count > 1 else { return }
        let writers = streams.filter { [.png, .svg, .qrPNG].contains($0) }
        if streams.count - writers.count > 1 { throw .twoReadersOfStandardInput }
        if writers.count > 1 { throw .conflict(Option.png.name + " -", Option.svg.name + " -") }
    }
}
