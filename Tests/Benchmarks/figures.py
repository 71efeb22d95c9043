"""Running programs in turn, and the table that their figures go into."""
import os
import subprocess
import time


def run(arguments, **options):
    return subprocess.run(arguments, check=True, capture_output=True, **options).stdout


def seconds(arguments, nowhere):
    """Wall time of one run; spawned directly, so that the measuring costs next to nothing."""
    actions = [(os.POSIX_SPAWN_DUP2, nowhere, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
    start = time.perf_counter()
    process = os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=actions)
    _, status = os.waitpid(process, 0)
    elapsed = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"bench: {' '.join(arguments)} ended with {status}")
    return elapsed


def fastest(rounds, commands):
    """The least time of each command, in seconds, after one run that warms the caches."""
    with open(os.devnull, "r+b") as nowhere:
        for arguments in commands.values():
            seconds(arguments, nowhere.fileno())
        times = {name: [] for name in commands}
        for _ in range(rounds):
            for name, arguments in commands.items():
                times[name].append(seconds(arguments, nowhere.fileno()))
    return {name: min(values) for name, values in times.items()}


def least(rounds, programs):
    """The least number of each line "NAME NUMBER" that the programs print."""
    found = {}
    for _ in range(rounds):
        for arguments in programs:
            for line in run(arguments, text=True).splitlines():
                name, number = line.split()
                found[name] = min(found.get(name, float("inf")), float(number))
    return found


def figure(number):
    """Three digits, and never an exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


class Table:
    def __init__(self):
        self.rows = []

    def at_most(self, what, ours, theirs, goal, unit):
        ratio = ours / theirs
        self.rows.append((what, f"{figure(ours)} {unit}", f"{figure(theirs)} {unit}", f"{ratio:.2f}×",
                          f"≤ {goal}×" if goal else "", not goal or ratio <= goal))

    def faster(self, what, ours, theirs, goal, unit):
        ratio = theirs / ours
        self.rows.append((what, f"{figure(ours)} {unit}", f"{figure(theirs)} {unit}", f"{ratio:.1f}× faster",
                          f"≥ {goal}×" if goal else "", not goal or ratio >= goal))

    def above(self, what, ours, theirs, goal, unit):
        more = ours - theirs
        self.rows.append((what, f"{figure(ours)} {unit}", f"{figure(theirs)} {unit}", f"+ {more:.3g} {unit}",
                          f"≤ + {goal} {unit}", more <= goal))

    def rate(self, what, ours, theirs, goal):
        """Both in nanoseconds each; the table says how many that is a second."""
        ratio = theirs / ours
        self.rows.append((what, f"{figure(1e9 / ours)}/s", f"{figure(1e9 / theirs)}/s", f"{ratio:.2f}×",
                          f"≥ {goal}×" if goal else "", not goal or ratio >= goal))

    def told(self, what, ours, theirs=""):
        self.rows.append((what, ours, theirs, "", "", True))

    def markdown(self):
        lines = ["| | Watchword | the other | ratio | goal |", "|---|---|---|---|---|"]
        for what, ours, theirs, ratio, goal, met in self.rows:
            goal += "" if met else " (missed)"
            lines.append(f"| {what} | {ours} | {theirs} | {ratio} | {goal} |")
        return "\n".join(lines)
