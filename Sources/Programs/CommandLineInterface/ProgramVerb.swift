/// A verb in a program's table: its name and its description.
package struct VerbEntry: Sendable {
    /// The word or words on the command line.
    package let name: String
    // Pages are made when they are needed, because most runs need only one.
    private let makePage: @Sendable () -> CommandHelp

    /// Creates an entry.
    package init(_ name: String, _ page: @autoclosure @escaping @Sendable () -> CommandHelp) {
        self.name = name
        makePage = page
    }

    /// The description of the verb.
    package var page: CommandHelp { makePage() }
}

/// A program's verb: an entry, and the function that runs it.
///
/// `allCases` is the table of all verbs. The parser, the help pages, the manual and the completions
/// are generated from it.
package protocol ProgramVerb: CaseIterable, Sendable where AllCases == [Self] {
    /// The program's name.
    static var program: String { get }
    /// The options that every verb accepts.
    static var global: [Option] { get }
    /// The description of the program itself.
    static var about: ProgramHelp { get }
    /// The verb's name and description.
    var entry: VerbEntry { get }
    /// Performs checks that are specific to this program.
    static func check(_ arguments: ParsedArguments) throws(UsageError)
}

extension ProgramVerb {
    /// The word or words on the command line.
    package var name: String { entry.name }
    /// The description of this verb.
    package var page: CommandHelp { entry.page }

    /// All options of all verbs.
    ///
    /// A name can occur twice, with and without a value.
    package static var allOptions: [Option] { table.allOptions }

    /// All verbs, for reading the command line.
    static var table: VerbTable { VerbTable(entries: allCases.map { $0.entry }, global: global) }
}
