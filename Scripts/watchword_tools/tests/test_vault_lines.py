"""Tests of the notation of the vault file: Base64, numbers, lines and binary fields."""
import unittest

from watchword_tools.vault_reader.fields import Fields
from watchword_tools.vault_reader.lines import Damaged, Lines, end_line, from_base64, number


class Base64Tests(unittest.TestCase):
    def test_the_canonical_encoding_is_read(self):
        self.assertEqual(from_base64("AAE="), b"\0\1")
        self.assertEqual(from_base64("AAE=", 2), b"\0\1")

    def test_every_other_encoding_is_refused(self):
        for text in ["AAE", "AAE==", "AAF=", "AA E=", "AAE=\n", "AA-_", "AAE=AAE=", "A", "é"]:
            with self.subTest(text), self.assertRaisesRegex(Damaged, "^here$"):
                from_base64(text, None, "here")

    def test_another_length_is_refused(self):
        with self.assertRaises(Damaged):
            from_base64("AAE=", 3)


class NumberTests(unittest.TestCase):
    def test_numbers_within_the_limits_are_read(self):
        for text in ["0", "7", "10", "9223372036854775807"]:
            self.assertEqual(number(text, "here"), int(text))
        self.assertEqual(number("1", "here", 1, 1), 1)

    def test_other_notations_are_refused(self):
        for text in ["", "-1", "+1", "01", "00", "1 ", "1\n", "1.0", "1_0", "٣", "9223372036854775808",
                     "10000000000000000000"]:
            with self.subTest(text), self.assertRaises(Damaged):
                number(text, "here")

    def test_numbers_outside_the_limits_are_refused(self):
        for text in ["0", "3"]:
            with self.subTest(text), self.assertRaises(Damaged):
                number(text, "here", 1, 2)


class LinesTests(unittest.TestCase):
    def test_lines_are_taken_in_order(self):
        lines = Lines("a 1 2\nb x y z\n")
        self.assertEqual(lines.where(), "line 1")
        self.assertEqual(lines.take("a", 2), ["1", "2"])
        self.assertEqual((lines.where(), lines.next_is("a"), lines.next_is("b")), ("line 2", False, True))
        self.assertEqual(lines.take("b", None), ["x y z"])
        self.assertFalse(lines.next_is("b"))

    def test_a_wrong_line_is_refused(self):
        for text, count in [("b 1\n", 1), ("ab 1\n", 1), ("a\n", 0), ("a 1\n", 2), ("a 1 2\n", 1), ("a  1\n", 2),
                            ("a 1 \n", 2), ("a \n", None), ("", 1)]:
            with self.subTest(text), self.assertRaisesRegex(Damaged, "^line 1$"):
                Lines(text).take("a", count)

    def test_the_last_line_contains_the_digest(self):
        self.assertEqual(end_line(b""), b"end 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n")


class FieldsTests(unittest.TestCase):
    def test_fields_are_taken_in_order(self):
        fields = Fields(b"\1\2\0\0\0\2h\xc3" + b"\0\0\0\2\xc3\xa9" + b"x", "here")
        self.assertEqual(fields.number(2), 0x0102)
        self.assertEqual(fields.string(), b"h\xc3")
        self.assertEqual(fields.text(2), "é")
        self.assertEqual(fields.take(1), b"x")
        fields.end()

    def test_a_field_that_does_not_fit_is_refused(self):
        cases = [
            lambda: Fields(b"\1", "here").number(2),
            lambda: Fields(b"\0\0\0\2h", "here").string(),
            lambda: Fields(b"\0\0\0\2hi", "here").string(1),
            lambda: Fields(b"\0\0\0\1\xc3", "here").text(),
            lambda: Fields(b"x", "here").end(),
        ]
        for case in cases:
            with self.assertRaisesRegex(Damaged, "^here$"):
                case()
