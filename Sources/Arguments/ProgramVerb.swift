/// A program's verbs: an enum whose raw values are the words on the command line.
///
/// The parser, the help pages, the manual and the completions are generated from it.
package protocol ProgramVerb: RawRepresentable<String>, CaseIterable, Hashable, Sendable
where AllCases == [Self] {
    /// The program's name.
    static var program: String { get }
    /// The options that every verb accepts.
    static var global: [Option] { get }
    /// The description of the program itself.
    static var about: ProgramPage { get }
    /// The description of this verb.
    var page: Page { get }
    /// Performs checks that are specific to this program.
    static func check(_ arguments: ParsedArguments) throws(UsageError)
}

extension ProgramVerb {
    /// Accepts all arguments.
    package static func check(_ arguments: ParsedArguments) throws(UsageError) {}

    /// The word or words on the command line.
    package var name: String { rawValue }

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
