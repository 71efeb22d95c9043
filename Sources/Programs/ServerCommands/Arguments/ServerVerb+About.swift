import CommandLineInterface

// The program's part of the help and the manual page.
extension ServerVerb {
    static let about = ProgramHelp(
        summary: "Verifies one-time passwords and enrolled secrets, and accepts each code once.",
        examples: [
            "watchword-server serve", "watchword-server client add shop --scope verify,enrol",
        ],
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
        verifies TOTP and HOTP codes, recovery codes, and device secrets that rotate at every use.
        It accepts each code once, and offers a JSON API over HTTP.
        The OpenAPI document that
        .Nm
        .Cm openapi
        prints describes the API.
        .Pp
        Options may appear anywhere, as
        .Fl -name Ar value
        or
        .Fl -name Ns = Ns Ar value ;
        after
        .Fl -
        every argument is an operand.
        Data is written to standard output; messages, and the log as lines
        of JSON, to standard error.
        \(ManualPage<ServerVerb>.jsonErrors())
        Secrets are never passed as arguments, and never logged.
        .Pp
        These options apply to every command:
        """

    private static let environment = """
        .Sh ENVIRONMENT
        .Bl -tag -width XDG_STATE_HOME
        .It Ev WATCHWORD_...
        Sets an option of
        .Cm serve ,
        or
        .Fl -store
        or
        .Fl -keys
        of any command.
        The name is in upper case, with
        .Ql _
        for
        .Ql - :
        .Ev WATCHWORD_LISTEN
        sets
        .Fl -listen .
        The command line overrides the environment.
        .It Ev XDG_STATE_HOME
        The parent directory of the database, unless
        .Fl -store
        names a database; default
        .Pa ~/.local/state .
        .El
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa ~/.local/state/watchword/watchword.db
        The database.
        Beside it are SQLite's own files, a lock, and
        .Pa watchword.db.mark ,
        which reveals that the database was replaced by an older state.
        .It Pa ~/.local/state/watchword/keys
        The keys, without which the database is useless.
        .El
        """

    private static var exitStatus: String {
        ManualPage<ServerVerb>.exitStatus { code in
            switch code {
            case .done: "Success."
            case .no:
                "Negative result: no such client, client revoked, name in use, tampering found, list "
                    + "incomplete, or row refused."
            case .usage: "Usage error."
            case .badInput: "A file is missing, damaged, in conflict, or accessible to other users."
            case .system: "The system, the database or the network failed."
            case .presence, .refused: nil
            }
        }
    }

    private static let end = """
        .Sh SEE ALSO
        .Xr watchword 1
        .Sh STANDARDS
        RFC 4226 (HOTP), RFC 6238 (TOTP), RFC 9457 (problem details), NIST SP 800-63B-4.
        .Sh SECURITY CONSIDERATIONS
        Anybody who has both the database and the key file can compute every code.
        Either alone is useless.
        Codes and device secrets are accepted only over TLS or on a loopback address, unless
        .Fl -insecure-http
        is given.
        """
}
