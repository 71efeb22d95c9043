import CommandLineInterface

// The help page and the manual of the program itself.
extension Verb {
    static let about = ProgramHelp(
        summary: "Store one-time password keys in an encrypted vault, and print their codes.",
        examples: ["watchword init", "watchword import screenshots/", "watchword code github"],
        manualHead: manualHead, manualTail: [environment, exitStatus, end].joined(separator: "\n"))

    private static let manualHead = """
        .Dd November 21, 2026
        .Dt WATCHWORD 1
        .Os
        .Sh NAME
        .Nm watchword
        .Nd one-time passwords from an encrypted vault
        .Sh SYNOPSIS
        .Nm
        .Ar command
        .Op Ar operand ...
        .Op Ar option ...
        .Sh DESCRIPTION
        .Nm
        stores the keys of one-time passwords
        .Pq TOTP, HOTP
        and other small secrets in an encrypted file, the vault, and prints codes from them.
        It also reads QR codes from images, and creates them.
        .Pp
        Options can be anywhere on the command line, as
        .Fl -name Ar value
        or
        .Fl -name Ns = Ns Ar value .
        After
        .Fl - ,
        all arguments are operands.
        Data is printed on standard output, messages on standard error.
        .Pp
        \(jsonErrors)
        With
        .Ql saved ,
        the vault was changed despite the error; without it, a recovery key that was printed before
        opens nothing.
        .Pp
        Secrets are never given as arguments: they are read from a file, from standard input
        .Pq a file named Ql -
        or from the terminal, without echo.
        A
        .Ar NAME
        that is a URI with a key or looks like a key is refused, and so is a
        .Ar PATH
        that is such a URI.
        Before a secret is printed on a terminal, the command asks for confirmation.
        Files that contain secrets are readable by their owner only, and do not overwrite other files
        unless
        .Fl -force
        is given.
        .Pp
        .Ar NAME
        is the full name of an entry
        .Pq Ql issuer:account ,
        its account, or words of its name in any order; case and accents are ignored.
        If no name contains them, tags and notes are searched.
        If several entries match, they are listed on standard error, and nothing else happens.
        With
        .Fl -yes
        or without a terminal, an entry is changed or removed only by its whole name, issuer,
        account or id.
        .Pp
        All commands accept these options:
        """

    private static let jsonErrors = ManualPage.jsonErrors(
        """
        ,
        or
        .Ql denied
        if authentication failed.
        """)

    private static let environment = """
        .Sh ENVIRONMENT
        .Bl -tag -width WATCHWORD_PASSPHRASE_FILE
        .It Ev WATCHWORD_VAULT
        The vault, unless
        .Fl -vault
        is given.
        .It Ev WATCHWORD_PASSPHRASE_FILE
        The file with the passphrase
        .Pq Ql - for standard input ,
        unless
        .Fl -passphrase-file ,
        .Fl -recovery-key
        or
        .Fl -recovery-key-file
        is given.
        .It Ev XDG_DATA_HOME
        The folder that contains
        .Pa watchword/vault ,
        the default vault.
        Default:
        .Pa ~/.local/share .
        .It Ev WATCHWORD_AGENT
        If
        .Ql off ,
        the agent is not used
        .Pq see Ic unlock .
        .It Ev WATCHWORD_CLOCK_WARNING
        If
        .Ql off ,
        there is no warning about a clock that is not synchronised.
        Otherwise, it appears once after each system start, and in
        .Ic check .
        .It Ev WAYLAND_DISPLAY , DISPLAY , SSH_TTY , SSH_CONNECTION
        How
        .Fl -copy
        chooses a way to the clipboard: with
        .Xr wl-copy 1
        if the first is set, with
        .Xr xclip 1
        or
        .Xr xsel 1x
        if the second is, and otherwise by the terminal over SSH.
        .It Ev XDG_RUNTIME_DIR
        The folder that contains
        .Pa watchword/agent.sock ,
        the agent's socket.
        Default:
        .Pa /run/user/ Ns Ar UID .
        .It Ev NO_COLOR
        If set, output is not coloured.
        .El
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa ~/.local/share/watchword/vault
        The vault.
        .It Pa .watchword
        The folder beside the vault with Watchword's own files.
        .Pa by-name/ Ns Ar NAME
        contains the previous generation of the vault
        .Pq Pa previous ,
        the number of the newest generation, and locks.
        .Pa by-id/ Ns Ar ID
        contains the count of failures
        and the encrypted times of the entries' last uses
        .Pq Pa uses .
        .Pa enrolled
        records which enrolled secrets were presented last.
        To look at the previous generation, open it with
        .Fl -vault ;
        to return to it, use
        .Ic watchword undo .
        .It Pa $XDG_RUNTIME_DIR/watchword/clock-warning- Ns Ar BOOT
        An empty file: the warning about the clock was printed.
        .It Pa /etc/pam.d/watchword
        The PAM service for entries that require confirmation at each use
        .Pq see Xr pam.d 5 .
        If it does not exist, the passphrase is used.
        .El
        """

    private static var exitStatus: String {
        ManualPage.exitStatus { code in
            switch code {
            case .done: "Success."
            case .no: "Negative result: no such entry, wrong code, nothing read, an item refused."
            case .usage: "Invalid command line."
            case .badInput: "Invalid or damaged input."
            case .presence:
                "Authentication failed (wrong passphrase, no terminal to prompt on) or locked out."
            case .refused: "Refused by the server's policy."
            case .system: "System or network failure."
            }
        }
    }

    private static let end = """
        .Sh SEE ALSO
        .Xr oathtool 1 ,
        .Xr zbarimg 1
        .Sh STANDARDS
        RFC 4226 (HOTP), RFC 6238 (TOTP), RFC 4648 (Base32).
        .Sh SECURITY CONSIDERATIONS
        Every passphrase attempt is counted before it is checked.
        After 5 failures in a row, further attempts must wait 1, 5, 15, 30, then 60 minutes; the
        recovery key unlocks the vault during the wait, and ends it.
        An entry with
        .Fl -on-failure Cm wipe : Ns Ar N
        loses its secret at the
        .Ar N Ns th
        failure in a row.
        This stops somebody at the keyboard, but not somebody with a copy of the files, where
        attempts are not counted.
        Confirmation through PAM is advisory: anybody who controls the system, or runs programs as
        you, can bypass it.
        .Pp
        While the agent holds the vault, other programs that run as you can get codes from it, as you can,
        but no secrets, and no codes of entries that require confirmation at each use.
        .Pp
        Anybody who can read this process's memory, or record keystrokes, can obtain the vault's
        secrets.
        A passphrase that is easy to guess does not protect the vault: its file can be copied, and
        passphrases can be tried elsewhere, at the cost set with
        .Fl -scrypt-log-n .
        """
}
