/// A program's verb; `allCases` is the table of all of them.
///
/// The parser, the help pages, the manual and the completions are generated from the table.
package protocol ProgramVerb: CaseIterable, Sendable where AllCases == [Self] {
    /// The program's name.
    static var program: String { get }
    /// The options that every verb accepts.
    static var global: [Option] { get }
    /// The description of the program itself.
    static var about: ProgramHelp { get }
    /// The word or words on the command line.
    var name: String { get }
    /// The description of this verb.
    var page: CommandHelp { get }
    /// Performs checks that are specific to this program.
    static func check(_ arguments: ParsedArguments) throws(UsageError)
}

extension ProgramVerb {
    /// Accepts all arguments.
    package static func check(_ arguments: ParsedArguments) throws(UsageError) {}

    /// All options of all verbs.
    ///
    /// A name can occur twice, with and without a value.
    package static var allOptions: [Option] { table.allOptions }

    /// All verbs, for reading the command line.
    static var table: VerbTable {
        let verbs = allCases
        return VerbTable(names: verbs.map { $0.name }, global: global) { verbs[$0].page }
    }
}
