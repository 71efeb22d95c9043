"""The tutorials: runs their commands on a terminal, and compares what the terminal shows with what the pages say.

A page consists of "sh" blocks, each of which a "text" block with what it prints can follow. These comments control the
run; each is followed by a reason or by names:

    <!-- not run: REASON -->    before an "sh" block that needs a person, a device or another machine
    <!-- run: REASON            further commands, in the lines up to "-->", which simulate such a thing
    <!-- needs: NAME … -->      programs and files without which the section, or the page, is skipped
"""
import codecs
import glob
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
from typing import NamedTuple

from watchword_tools import ROOT

from .tree import files_of

PROGRAMS = ROOT / ".build/release"
# How long the terminal may be silent, in seconds.
DEADLINE = 60
PASSPHRASE = "correct horse battery staple"
RECOVERY_KEY = re.compile(r"^(?:[A-Z2-7]{4}-){8,}[A-Z2-7]{4}$", re.M)
PART = re.compile(
    r"^<!-- (?P<kind>needs|not run): (?P<words>.*?) -->$|^<!-- run: .*?\n(?P<hidden>(?:.*\n)*?)-->$"
    r"|^```(?P<language>\w*)\n(?P<block>(?:.*\n)*?)```$|^(?P<level>#+) (?P<heading>.*)$", re.M)
# Each tutorial gets a network, processes and system folders of its own, so that it can use its real ports and paths.
NAMESPACES = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
PRELUDE = """
sudo() { "$@"; }
ip link set lo up
for folder in /run /var/log; do mount -t tmpfs -o mode=755 tmpfs $folder; done
for folder in hosts pam.d nginx; do
    [ ! -e /etc/$folder ] || { cp -r /etc/$folder "$PRIVATE" && mount --bind "$PRIVATE/$folder" /etc/$folder; }
done
"""


class Step(NamedTuple):
    """Commands of a section, what they print, and the programs and files that they need."""
    section: str
    commands: str
    printed: list
    needs: list


def steps(text):
    """Returns the steps of a page. Raises `ValueError` if a block or comment has no meaning where it is."""
    found, section, common, needs, before = [], None, [], [], None
    for part in PART.finditer(text):
        kind = part["kind"] or part["language"]
        if part["heading"]:
            # Every section needs what the introduction needs.
            common = needs if section is None else common
            needs = list(common)
            section = part["heading"] if part["level"] != "#" else None
        elif kind == "needs":
            needs += part["words"].split()
        elif part["hidden"] is not None:
            found.append(Step(section, part["hidden"], [], needs))
        elif kind == "sh" and before != "not run":
            found.append(Step(section, part["block"], [], needs))
        elif kind == "text" and before == "sh":
            found[-1] = found[-1]._replace(printed=part["block"].splitlines())
        elif kind == "text" and before != "skipped" or before == "not run" and kind != "sh":
            raise ValueError(f"{section}: a {kind} block or comment is out of place")
        before = "skipped" if kind == "sh" and before == "not run" else kind
    return found


def is_as_written(lines, written):
    """Whether lines are as written. "…" matches anything within a line, and as a line of its own, several lines."""
    pattern = "\n".join(
        r"(?s:.+)" if line == "…" else ".*".join(map(re.escape, line.split("…"))) for line in written)
    return re.fullmatch(pattern, "\n".join(lines)) is not None


def visible(output):
    """Returns what stays on the terminal: a progress report is erased, with the line that it began."""
    return re.sub(r"[^\n]*\r\x1b\[K|\x1b\[K", "", output.replace("\r\n", "\n"))


def answer(shown):
    """Returns what a person types now; `None` while the terminal does not end with a prompt."""
    prompt = shown.rsplit("\n", 1)[-1].rstrip().lower()
    if not prompt.endswith(":"):
        return None
    if "recovery key" in prompt:
        return (RECOVERY_KEY.findall(shown) or [None])[-1]
    return PASSPHRASE if re.search("passphrase|password", prompt) else None


def missing(needs):
    """Returns the needed programs and files (paths, with wildcards) that are not installed."""
    return [name for name in needs if not (glob.glob(name) if "/" in name else shutil.which(
        name, path=f"{PROGRAMS}:{os.environ['PATH']}:/usr/sbin"))]


def isolation():
    """Returns the words before a command that runs it in namespaces, where this user is root."""
    return NAMESPACES if os.geteuid() == 0 else [*NAMESPACES, "--map-root-user"]


def on_terminal(command, environment):
    """Runs a command on a terminal, answers its prompts, and returns what the terminal shows."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(environment["HOME"])
        os.execvpe(command[0], command, environment)
    shown, answered = "", -1
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        while select.select([terminal], [], [], DEADLINE)[0]:
            try:
                shown += decoder.decode(os.read(terminal, 65536))
            except OSError:  # The last program on the terminal has ended.
                return visible(shown)
            # A prompt may arrive in parts, but its line ends once it is answered.
            if shown.count("\n") > answered and (typed := answer(visible(shown))) is not None:
                answered = shown.count("\n")
                os.write(terminal, typed.encode() + b"\n")
        return visible(shown) + f"\n(stopped after {DEADLINE} s of silence)"
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def run(name, wanted):
    """Runs the steps of a page and yields the differences."""
    with tempfile.TemporaryDirectory() as folder:
        home, private = pathlib.Path(folder, "home"), pathlib.Path(folder, "private")
        home.mkdir(mode=0o700)
        private.mkdir()
        script = PRELUDE
        for number, step in enumerate(wanted):
            script += f"printf '\\n== {number}\\n'\n{step.commands}"
        pathlib.Path(folder, "script").write_text(script)
        environment = {variable: value for variable, value in os.environ.items()
                       if not variable.startswith(("XDG_", "WATCHWORD_"))} | {
            "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PRIVATE": str(private), "TERM": "dumb", "LC_ALL": "C.UTF-8",
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}:/usr/sbin", "CLONE": str(ROOT), "WATCHWORD_CLOCK_WARNING": "off"}
        said = on_terminal([*isolation(), "bash", f"{folder}/script"], environment)
    if (before := said.partition("\n== 0\n")[0]).strip():
        yield f"{name}: {before}"
    printed = dict(re.findall(r"\n== (\d+)\n(.*?)(?=\n== \d+\n|\Z)", said, re.S))
    for number, step in enumerate(wanted):
        lines = [line.rstrip() for line in printed.get(str(number), "(not reached)").splitlines() if line.strip()]
        written = [line.rstrip() for line in step.printed if line.strip()]
        if not is_as_written(lines, written):
            yield "\n".join([f"{name}, {step.section}:", step.commands, "written:", *written, "actual:", *lines, ""])


def check(page):
    """Runs a page as far as possible here; returns what is wrong with it."""
    name, wanted, skipped = pathlib.Path(page).name, [], {}
    try:
        found = steps((ROOT / page).read_text(encoding="utf-8"))
    except ValueError as error:
        return [f"{name}, {error}"]
    for step in found:
        if absent := missing(step.needs):
            skipped[step.section] = absent
        else:
            wanted.append(step)
    for section, absent in skipped.items():
        print(f"skipped: {name}, {section}: {', '.join(absent)} not installed")
    mistakes = list(run(name, wanted)) if wanted else []
    print(f"{len(wanted)} steps of {name} run, {len(mistakes)} differences", flush=True)
    return mistakes


def can_isolate():
    return subprocess.run([*isolation(), "true"], capture_output=True, check=False).returncode == 0


def differences(names):
    """Runs the tutorials, or only those of these names; returns what is wrong with them."""
    pages = [page for page in files_of(ROOT, "Sources/**/Tutorials/*.md")
             if not names or pathlib.Path(page).stem in names]
    return [mistake for page in pages for mistake in check(page)]
