import Arguments

// What the help and the manual say of the program itself.
extension Verb {
    static let about = ProgramPage(
        summary: "One-time passwords from an encrypted vault.",
        examples: ["watchword init", "watchword import screenshots/", "watchword code github"],
        closing: "Help for a command: watchword COMMAND --help. The manual: watchword manual.",
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
        keeps the keys of one-time passwords
        .Pq TOTP, HOTP
        and other small secrets in an encrypted file, the vault, and prints codes from them.
        It reads QR symbols from pictures, and draws them.
        .Pp
        Options may stand anywhere, as
        .Fl -name Ar value
        or
        .Fl -name Ns = Ns Ar value ;
        after
        .Fl -
        everything is an operand.
        Data go to standard output, words to standard error.
        .Pp
        No secret is ever an argument: it comes from a file, from standard input
        .Pq a file called Ql -
        or from the terminal, without echo.
        Before a secret is printed on a terminal, the terminal is asked.
        Files that hold secrets are written for their owner alone, and never over a file that is
        there without
        .Fl -force .
        .Pp
        .Ar NAME
        is the whole name of an entry,
        .Ql issuer:account
        or the account, or else a part of the name of one entry, whatever the case.
        When several entries match, they are listed on standard error, and nothing is done.
        .Pp
        These options go with every verb:
        """

    private static let environment = """
        .Sh ENVIRONMENT
        .Bl -tag -width WATCHWORD_VAULT
        .It Ev WATCHWORD_VAULT
        The vault, unless
        .Fl -vault
        names one.
        .It Ev XDG_DATA_HOME
        Where the vault is looked for otherwise; default
        .Pa ~/.local/share .
        .It Ev NO_COLOR
        Nothing is coloured.
        .El
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa ~/.local/share/watchword/vault
        The vault.
        .It Pa .watchword
        The folder beside the vault that holds what Watchword keeps for it: in
        .Pa by-name/ Ns Ar NAME
        the generation before it
        .Pq Pa previous ,
        the mark of the newest one and locks; in
        .Pa by-id/ Ns Ar ID
        the failures that were counted.
        To look at the generation before, name it with
        .Fl -vault ;
        to go back to it, copy it over the vault.
        .It Pa /etc/pam.d/watchword
        What the system asks before an entry opens that asks at each use
        .Pq see Xr pam.d 5 .
        Where it is not installed, the passphrase is asked.
        .El
        """

    private static var exitStatus: String {
        let rows = ExitCode.allCases.flatMap {
            [".It \($0.rawValue)", ManualPage.escaped($0.meaning)]
        }
        return ([".Sh EXIT STATUS", ".Bl -tag -width Ds"] + rows + [".El"]).joined(separator: "\n")
    }

    private static let end = """
        .Sh SEE ALSO
        .Xr oathtool 1 ,
        .Xr zbarimg 1
        .Sh STANDARDS
        RFC 4226 (HOTP), RFC 6238 (TOTP), RFC 4648 (Base32).
        .Sh SECURITY CONSIDERATIONS
        A wrong passphrase is counted before the answer is known.
        After 5 in a row further tries wait 1, 5, 15, 30, then 60 minutes; the recovery key opens
        meanwhile, and ends the wait.
        An entry with
        .Fl -on-failure Cm wipe : Ns Ar N
        loses its secret at the
        .Ar N Ns th
        failure in a row.
        This holds off who has the keyboard, not who has a copy of the files: on a copy nothing is
        counted.
        The question that PAM asks is advisory: who controls the system, or runs programs as you,
        can do without it.
        .Pp
        Who can read this process's memory, or watch the keyboard, gets what the vault holds.
        A passphrase that can be guessed is no protection: the vault's file can be copied and
        tried elsewhere, at the cost that
        .Fl -scrypt-log-n
        sets.
        """
}
