"""The module's messages: the vectors that the server's tests read too."""
import ctypes
import json
import pathlib
import unittest

from login_server import REASONS, REQUEST, RESPONSE, VERDICTS
from support import BUILT

VECTORS = pathlib.Path(__file__).parents[2] / "Vectors/login/messages.json"
OPERATIONS = {"verify": 1, "status": 2}
NAMES = {"neverEnrolled": "never enrolled", "mustWait": "must wait"}


class Request(ctypes.Structure):
    _fields_ = [("operation", ctypes.c_int), ("wants_reasons", ctypes.c_bool), ("service", ctypes.c_char_p),
                ("user", ctypes.c_char_p), ("host", ctypes.c_char_p), ("code", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("verdict", ctypes.c_int), ("reason", ctypes.c_int), ("seconds", ctypes.c_uint32)]


def assembled(case, size):
    message = bytearray(size)
    for offset, part in case["parts"].items():
        part = bytes.fromhex(part)
        message[int(offset):int(offset) + len(part)] = part
    return bytes(message)


class MessageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions = ctypes.CDLL(BUILT / "functions.so")
        cls.functions.write_request.restype = cls.functions.read_response.restype = ctypes.c_bool
        cls.cases = json.loads(VECTORS.read_text())["cases"]

    def written(self, operation, reasons, *texts):
        request = Request(OPERATIONS[operation], reasons, *(text.encode() for text in texts))
        message = ctypes.create_string_buffer(REQUEST)
        return message.raw if self.functions.write_request(ctypes.byref(request), message) else None

    def test_requests(self):
        """Every valid request of the vectors is written byte for byte."""
        valid = [case for case in self.cases if case["message"] == "request" and case["valid"]]
        self.assertGreater(len(valid), 3)
        for case in valid:
            with self.subTest(case["why"]):
                texts = (case[name] for name in ("service", "user", "remoteHost", "code"))
                self.assertEqual(
                    self.written(case["operation"], case["reasons"], *texts), assembled(case, REQUEST))

    def test_unfit(self):
        """A user or a code that does not fit is refused; what is only recorded is cut and made printable."""
        self.assertIsNone(self.written("verify", False, "sshd", "", "", "123456"))
        self.assertIsNone(self.written("verify", False, "sshd", "u" * 129, "", "123456"))
        self.assertIsNone(self.written("verify", False, "sshd", "alice", "", ""))
        self.assertIsNone(self.written("verify", False, "sshd", "alice", "", "1" * 65))
        self.assertIsNone(self.written("status", False, "sshd", "alice", "", "123456"))
        self.assertEqual(
            self.written("verify", False, "s" * 100, "alice", "a b\né" + "h" * 200, "123456"),
            self.written("verify", False, "s" * 32, "alice", "a?b???" + "h" * 122, "123456"))

    def test_responses(self):
        """Every response of the vectors is read, or refused."""
        responses = [case for case in self.cases if case["message"] == "response"]
        self.assertGreater(len(responses), 20)
        for case in responses:
            with self.subTest(case["why"]):
                found = Response()
                is_valid = self.functions.read_response(
                    assembled(case, RESPONSE), OPERATIONS[case["operation"]], ctypes.byref(found))
                self.assertEqual(is_valid, case["valid"])
                if is_valid:
                    verdict, reason = case["verdict"], case.get("reason")
                    self.assertEqual(found.verdict, VERDICTS[NAMES.get(verdict, verdict)])
                    self.assertEqual(found.reason, REASONS[NAMES.get(reason, reason)] if reason else 0)
                    self.assertEqual(found.seconds, case.get("wait", 0))

    def test_every_byte(self):
        """A response with one bit changed never means something better."""
        denied = bytes.fromhex("5757523102") + bytes(27)
        for index in range(8 * RESPONSE):
            changed = bytearray(denied)
            changed[index // 8] ^= 1 << index % 8
            found = Response()
            if self.functions.read_response(bytes(changed), OPERATIONS["verify"], ctypes.byref(found)):
                # One bit of the verdict, or of the reason, tells them apart: a stream socket loses none.
                self.assertIn(index // 8, (4, 5))


class TypedTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions = ctypes.CDLL(BUILT / "functions.so")
        cls.functions.is_like_code.restype = ctypes.c_bool
        cls.functions.start_of_code.restype = ctypes.c_ssize_t

    def test_codes(self):
        """What could be a code is told from what is a password."""
        for text in ("123456", "1234567", "12345678", "123 456", "12-34-56", "ABCD-EFGH-IJKL-MNOP", "abcdefghijklmnop",
                     "2345672345672345"):
            self.assertTrue(self.functions.is_like_code(text.encode()), text)
        for text in ("", "12345", "123456789", "12345a", "123456a", "summer2024123", "ABCD-EFGH-IJKL-MNO",
                     "ABCD-EFGH-IJKL-MNO1", "correct horse", "123456\n"):
            self.assertFalse(self.functions.is_like_code(text.encode()), text)

    def test_behind_password(self):
        """The code behind a password is found, whatever the password ends with."""
        for text, digits, password in (
                ("secret123456", 6, "secret"), ("secret99123456", 6, "secret99"), ("123456", 6, ""),
                ("secret12345678", 8, "secret"), ("geheim-éABCD-EFGH-IJKL-MNOP", 6, "geheim-é"),
                ("ABCD-EFGH-IJKL-123456", 6, "ABCD-EFGH-IJKL-"), ("pass ABCD-EFGH-IJKL-2345", 6, "pass ")):
            start = self.functions.start_of_code(text.encode(), digits)
            self.assertEqual(text.encode()[:start].decode(), password)
        for text, digits in (("", 6), ("secret", 6), ("12345", 6), ("secret12345", 6), ("secret123456 ", 6),
                             ("secret123456", 8), ("secretABCDEFGHIJKLMNOP", 6), ("ABCD-EFGH-IJKL-MNO1", 6)):
            self.assertEqual(self.functions.start_of_code(text.encode(), digits), -1, text)
