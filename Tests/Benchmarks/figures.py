"""Runs programs in turn, and collects their figures in a table."""
import os
import subprocess
import time


# A program that takes longer is assumed to hang.
TIMEOUT = 600


class Failure(Exception):
    """Why there is no figure."""


class Place:
    """Where the measured programs are."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.python = os.path.join(self.folder, "python", "bin", "python")
        self.module = os.path.join(self.folder, "pam_watchword.so")

    def shipped(self, name):
        return os.path.join(self.folder, "shipped", "bin", name)

    def peer(self, name):
        return os.path.join(self.folder, "peers", name)

    def benchmark(self, name):
        return os.path.join(self.folder, "build", "release", name)

    def source(self, *names):
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), *names)


def run(arguments, timeout=TIMEOUT, **options):
    """Runs a program, which must succeed, and returns its output."""
    command = " ".join(arguments[:2])
    try:
        ended = subprocess.run(arguments, capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        raise Failure(f"{command}: not finished after {timeout} s") from None
    if ended.returncode != 0:
        said = ended.stderr if options.get("text") else ended.stderr.decode(errors="replace")
        raise Failure(f"{command}: exit status {ended.returncode}\n{said[:1_000]}")
    return ended.stdout


def seconds(arguments, nowhere, allowed=(0,), environment=None):
    """Wall time of one run, which must end with an allowed status. Spawning directly keeps the overhead small."""
    actions = [(os.POSIX_SPAWN_DUP2, nowhere, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
    start = time.perf_counter()
    process = os.posix_spawnp(arguments[0], arguments, environment or os.environ, file_actions=actions)
    _, status = os.waitpid(process, 0)
    elapsed = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in allowed:
        raise Failure(f"{' '.join(arguments)}: wait status {status}")
    return elapsed


def fastest(rounds, commands, allowed=(0,), environment=None):
    """The minimum time of each command in seconds, after one run that warms the caches."""
    with open(os.devnull, "r+b") as nowhere:
        for arguments in commands.values():
            seconds(arguments, nowhere.fileno(), allowed, environment)
        times = {name: [] for name in commands}
        for _ in range(rounds):
            for name, arguments in commands.items():
                times[name].append(seconds(arguments, nowhere.fileno(), allowed, environment))
    return {name: min(values) for name, values in times.items()}


def keep(found, more):
    """Lowers each figure in `found` to the one in `more`, if that is smaller."""
    for name, number in more.items():
        found[name] = min(found.get(name, float("inf")), number)


def least(rounds, programs, timeout=TIMEOUT):
    """The minimum for each NAME over all lines "NAME NUMBER" that the programs print."""
    found = {}
    for _ in range(rounds):
        for arguments in programs:
            pairs = map(str.split, run(arguments, timeout, text=True).splitlines())
            keep(found, {name: float(number) for name, number in pairs})
    return found


def figure(number):
    """Three significant digits, without an exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


class Table:
    """Rows of five columns: measurement, ours, the reference, the ratio, and its goal."""

    def __init__(self):
        self.rows = []

    def add(self, what, ours, theirs, ratio="", goal="", met=True):
        self.rows.append((what, ours, theirs, ratio, goal if met else f"{goal} (missed)"))

    def at_most(self, what, ours, theirs, goal, unit):
        ratio = ours / theirs
        self.add(what, f"{figure(ours)} {unit}", f"{figure(theirs)} {unit}", f"{ratio:.2f}×",
                 f"≤ {goal}×" if goal else "", not goal or ratio <= goal)

    def faster(self, what, ours, theirs, goal, unit):
        ratio = theirs / ours
        self.add(what, f"{figure(ours)} {unit}", f"{figure(theirs)} {unit}", f"{ratio:.1f}× faster",
                 f"≥ {goal}×" if goal else "", not goal or ratio >= goal)

    def above(self, what, ours, theirs, goal, unit):
        more = ours - theirs
        sign = "+" if more >= 0 else "−"
        self.add(what, f"{figure(ours)} {unit}", f"{figure(theirs)} {unit}", f"{sign} {figure(abs(more))} {unit}",
                 f"≤ + {goal} {unit}", more <= goal)

    def rate(self, what, ours, theirs, goal):
        """Takes nanoseconds for each operation; the table shows operations per second."""
        ratio = theirs / ours
        self.add(what, f"{figure(1e9 / ours)}/s", f"{figure(1e9 / theirs)}/s", f"{ratio:.2f}×",
                 f"≥ {goal}×" if goal else "", not goal or ratio >= goal)

    def minimum(self, what, ours, goal, unit):
        self.add(what, f"{figure(ours)}{unit}", "", "", f"≥ {figure(goal)}{unit}", ours >= goal)

    def maximum(self, what, ours, goal, unit):
        self.add(what, f"{figure(ours)} {unit}", "", "", f"≤ {figure(goal)} {unit}", ours <= goal)

    def within(self, what, ours, low, high, unit):
        self.add(what, f"{ours:.1f} {unit}", "", "", f"{low} to {high} {unit}", low <= ours <= high)

    def figures(self, what, ours, theirs=""):
        self.add(what, ours, theirs)
