"""Tests of the search for objects on the stack that a program frees."""
import unittest

from watchword_tools.checks.stack_objects import freed_stack_objects

# Each is the code before the call, in the notation of objdump.
STACK = {
    "an address relative to the stack pointer": ["lea    0x60(%rsp),%rdi"],
    "the stack pointer's own address": ["lea    (%rsp),%rdi"],
    "an address relative to the frame pointer": ["lea    -0x88(%rbp),%rdi"],
    "a register that holds the address": ["lea    -0x88(%rbp),%r14", "call   99 <f>", "mov    %r14,%rdi"],
    "two registers": ["lea    0x8(%rsp),%rbx", "mov    %rbx,%r12", "cmp    %rax,%rdi", "mov    %r12,%rdi"],
    "a slot of the frame": ["lea    0x8(%rsp),%rax", "mov    %rax,0x70(%rsp)", "mov    0x70(%rsp),%rdi"],
    "an optional object": ["xor    %ebx,%ebx", "test   %rax,%rax", "je     5 <here+0x5>", "lea    0x8(%rsp),%rbx",
                           "nop", "mov    %rbx,%rdi"],
}
HEAP = {
    "a returned object": ["call   99 <swift_allocObject@plt>", "mov    %rax,%rdi"],
    "an object that the frame refers to": ["mov    -0x88(%rbp),%rdi"],
    "another argument": ["lea    -0x88(%rbp),%rsi", "mov    %r13,%rdi"],
    "a register that was overwritten": ["lea    0x60(%rsp),%rbx", "mov    0x10(%rax,%rcx,8),%rbx", "mov    %rbx,%rdi"],
    "a register of which a part was overwritten": ["lea    0x60(%rsp),%rdi", "mov    %eax,%edi"],
    "a register that a call may change": ["lea    0x60(%rsp),%rdi", "call   99 <f>"],
    "a heap object on another path": ["mov    %rax,%rbx", "test   %rax,%rax", "je     5 <here+0x5>",
                                      "lea    0x8(%rsp),%rbx", "nop", "mov    %rbx,%rdi"],
    "a path that ends before": ["mov    %rax,%rbx", "jmp    4 <here+0x4>", "lea    0x8(%rsp),%rbx", "ud2",
                                "mov    %rbx,%rdi"],
}


def function(name, instructions):
    return [f"0 <{name}>:"] + [f"  {address:x}:\t{text}" for address, text in enumerate(instructions, 1)]


def disassembly(before, call="call   99 <swift_deallocClassInstance@plt>"):
    return function("other", ["lea    0x8(%rsp),%rdi", "ret"]) + function("here", [*before, call, "ret"])


class StackObjectTests(unittest.TestCase):
    def test_an_object_in_the_frame_is_reported_with_its_function(self):
        for name, before in STACK.items():
            with self.subTest(name):
                self.assertEqual(list(freed_stack_objects(disassembly(before))), ["here"])

    def test_tail_calls_and_static_libraries_count(self):
        for call in ["jmp    99 <swift_deallocClassInstance>", "call   99 <swift_deallocClassInstance>"]:
            with self.subTest(call):
                self.assertEqual(list(freed_stack_objects(disassembly(STACK["two registers"], call))), ["here"])

    def test_an_object_on_the_heap_is_not_reported(self):
        for name, before in HEAP.items():
            with self.subTest(name):
                self.assertEqual(list(freed_stack_objects(disassembly(before))), [])

    def test_a_program_without_symbols_is_refused(self):
        with self.assertRaises(ValueError):
            list(freed_stack_objects(disassembly(["nop"], "call   99 <free@plt>")))
