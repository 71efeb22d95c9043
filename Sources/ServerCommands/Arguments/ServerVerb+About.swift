import Arguments

// What the help and the manual say of the program itself.
extension ServerVerb {
    static let about = ProgramPage(
        summary: "Verifies one-time passwords and enrolled secrets, each code once.",
        examples: [
            "watchword-server serve", "watchword-server client add shop --scope verify,enrol",
        ],
        closing:
            "Help for a command: watchword-server COMMAND --help. The manual: watchword-server manual.",
        manualHead: manualHead, manualTail: [environment, exitStatus, end].joined(separator: "\n"))

    private static let manualHead = """
        .Dd November 21, 2026
        .Dt WATCHWORD-SERVER 1
        .Os
        .Sh NAME
        .Nm watchword-server
        .Nd verifies one-time passwords and enrolled secrets
        .Sh SYNOPSIS
        .Nm
        .Ar command
        .Op Ar operand
        .Op Ar option ...
        .Sh DESCRIPTION
        .Nm
        verifies codes of TOTP and HOTP, recovery codes, and secrets that rotate at every use, over
        HTTP and JSON, each code once.
        Its routes are in the description that
        .Nm
        .Cm openapi
        prints.
        .Pp
        Options may stand anywhere, as
        .Fl -name Ar value
        or
        .Fl -name Ns = Ns Ar value ;
        after
        .Fl -
        everything is an operand.
        Data go to standard output, words to standard error, and so do the log's lines of JSON.
        No secret is ever an argument, and none is ever logged.
        .Pp
        These options go with every verb:
        """

    private static let environment = """
        .Sh ENVIRONMENT
        .Bl -tag -width XDG_STATE_HOME
        .It Ev WATCHWORD_...
        The options of
        .Cm serve ,
        and
        .Fl -store
        and
        .Fl -keys
        of every verb: in capitals, with
        .Ql _
        for
        .Ql - ,
        as
        .Ev WATCHWORD_LISTEN .
        The command line has the last word.
        .It Ev XDG_STATE_HOME
        Where the database is unless
        .Fl -store
        names one; default
        .Pa ~/.local/state .
        .El
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa ~/.local/state/watchword/watchword.db
        The database.
        Beside it are SQLite's own files, a lock, and
        .Pa watchword.db.mark ,
        by which an earlier state is noticed that was put in its place.
        .It Pa ~/.local/state/watchword/keys
        The keys, without which the database is worth nothing.
        .El
        """

    private static var exitStatus: String {
        let rows = ServerExit.allCases.flatMap { exit in
            [".It \(exit.rawValue)", ManualPage<ServerVerb>.escaped(exit.meaning)]
        }
        return ([".Sh EXIT STATUS", ".Bl -tag -width Ds"] + rows + [".El"]).joined(separator: "\n")
    }

    private static let end = """
        .Sh SEE ALSO
        .Xr watchword 1
        .Sh STANDARDS
        RFC 4226 (HOTP), RFC 6238 (TOTP), RFC 9457 (problem details), NIST SP 800-63B-4.
        .Sh SECURITY CONSIDERATIONS
        Who has the database and the key file can be everybody in it; either alone opens nothing.
        Devices and codes come over TLS, or from this machine, unless
        .Fl -insecure-http
        says otherwise.
        """
}
