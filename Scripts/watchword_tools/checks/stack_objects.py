"""Objects on the stack that a program would free as if they were on the heap: a fault of Swift 6.3's optimiser.

The optimiser moves an object to the stack, leaves it without a header, and then passes its address to
`swift_deallocClassInstance`. `stack-promotion.swift` reproduces this.
"""
import concurrent.futures
import itertools
import os
import platform
import re
import subprocess
import tempfile

REPRODUCTION = os.path.join(os.path.dirname(__file__), "stack-promotion.swift")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\s+(?:\w+ )?([a-z]\w*) *(.*?)(?:\s+#.*)?$")
OPERAND = re.compile(r"(?:[^,(]|\([^)]*\))+")
FREE = re.compile(r"<swift_deallocClassInstance(?:@plt)?>$")
SLOT = re.compile(r"^-?(?:0x[0-9a-f]+)?\(%r[sb]p\)$")
REGISTERS = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"] + [f"r{number}" for number in range(8, 16)]
# The 64-bit register of each part of one: edi, di and dil are parts of rdi.
WHOLE = {f"%{register}": f"%{register}" for register in REGISTERS}
for _register in REGISTERS[:8]:
    WHOLE |= {f"%{part}": f"%{_register}" for part in ("e" + _register[1:], _register[1:], _register[1:] + "l")}
    WHOLE["%" + _register[1] + "l"] = f"%{_register}"
for _register in REGISTERS[8:]:
    WHOLE |= {f"%{_register}{part}": f"%{_register}" for part in "dwb"}
# The registers that a call may change.
CALLERS = [f"%{register}" for register in ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")]
READS_ONLY = ("cmp", "test", "push", "ucomis", "comis", "bt")

# The content of a register or a slot of the frame: unknown, zero, or an address in the frame.
OTHER, ZERO, FRAME = range(3)


def joined(first, second):
    """The content of a place at which two paths meet: on one path, an optional object is zero."""
    if first == second:
        return first
    return OTHER if OTHER in (first, second) else FRAME


def after(state, name, operands):
    """The places that hold zero or a frame's address after an instruction."""
    if name == "call":
        return {place: value for place, value in state.items() if place not in CALLERS}
    if name.startswith(READS_ONLY) or not operands or name.startswith("j"):
        return state
    source, target = operands[0], operands[-1]
    target = WHOLE.get(target, target)
    value = OTHER
    if name == "lea" and SLOT.match(source):
        value = FRAME
    elif name == "mov":
        value = ZERO if source == "$0x0" else state.get(WHOLE.get(source, source), OTHER)
    elif name == "xor" and source == operands[-1]:
        value = ZERO
    changed = {place: held for place, held in state.items() if place != target}
    if value != OTHER and (target in WHOLE or SLOT.match(target)):
        changed[target] = value
    return changed


def frees_stack_object(instructions):
    """Returns whether a function frees an object whose address is in its frame."""
    position = {address: index for index, (address, _, _) in enumerate(instructions)}
    states, work = {0: {}}, [0]
    while work:
        index = work.pop()
        state = states[index]
        while index < len(instructions):
            _, name, text = instructions[index]
            operands = OPERAND.findall(text)
            if FREE.search(text) and state.get("%rdi") == FRAME:
                return True
            followers = [] if name in ("jmp", "ret", "ud2") else [index + 1]
            if name.startswith("j") and (target := position.get(text.split(" ")[0])) is not None:
                followers.append(target)
            state = after(state, name, operands)
            following = None
            for follower in followers:
                known = states.get(follower)
                merged = state if known is None else {
                    place: value for place in known.keys() & state.keys()
                    if (value := joined(known[place], state[place])) != OTHER}
                if merged != known:
                    states[follower] = merged
                    if follower == index + 1:
                        following = merged
                    else:
                        work.append(follower)
            if following is None:
                break
            index, state = index + 1, following
    return False


def freed_stack_objects(disassembly):
    """Yields each function that frees an object in its frame."""
    function, lines, frees, calls = None, [], False, 0
    for line in itertools.chain(disassembly, ["0 <end>:"]):
        if start := FUNCTION.match(line):
            if frees and frees_stack_object([found.groups() for found in map(INSTRUCTION.match, lines) if found]):
                yield function
            function, lines, frees = start[1], [], False
        else:
            lines.append(line)
            if "<swift_deallocClassInstance" in line:
                frees, calls = True, calls + 1
    if calls == 0:
        raise ValueError("no object is ever freed: is this a Swift program with its symbols?")


def search(program):
    """Returns the functions of a program that free an object on the stack."""
    options = ["objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", program]
    with subprocess.Popen(options, stdout=subprocess.PIPE, text=True, errors="replace") as objdump:
        found = list(freed_stack_objects(objdump.stdout))
    if objdump.returncode != 0:
        raise subprocess.CalledProcessError(objdump.returncode, options)
    return found


def reproduces():
    """Returns whether the search finds the fault in the reproduction, compiled with this compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "reproduction")
        subprocess.run(["swiftc", "-O", REPRODUCTION, "-o", program], check=True)
        return any("bin" in function for function in search(program))


def report(programs):
    """Prints what is wrong with the programs; returns whether anything is."""
    if platform.machine() != "x86_64":
        print(f"skipped: the search knows only the machine code of x86-64, not of {platform.machine()}")
        return False
    if not reproduces():
        print(f"the search does not find the fault in {REPRODUCTION}: remove both if this compiler has no such fault")
        return True
    with concurrent.futures.ProcessPoolExecutor() as processes:
        found = list(processes.map(search, programs))
    for program, functions in zip(programs, found):
        for function in functions:
            print(f"{program}: {function} frees an object on the stack; unwrap optional objects with 'guard let'")
    return any(found)
