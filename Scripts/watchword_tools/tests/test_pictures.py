"""Tests of the pictures in Vectors: of their parts, and that the scripts make the stored ones again."""
import io
import json
import pathlib
import shutil
import tempfile
import unittest

from watchword_tools import ROOT
from watchword_tools.pictures.png import png

try:
    from PIL import Image, ImageChops

    from watchword_tools.pictures import format_vectors, qr_vectors
    from watchword_tools.pictures.scenes import perspective
    from watchword_tools.pictures.symbols import modules, pixels, symbol
    programs = [name for name in ("qrencode", "convert", "heif-enc") if not shutil.which(name)]
    missing = f"programs are missing: {programs}" if programs else None
except ImportError as error:
    missing = str(error)


@unittest.skipIf(missing, missing)
class PNGTests(unittest.TestCase):
    """Every variant is decoded by Pillow."""

    def decoded(self, rows, colour, depth, mode, **options):
        with Image.open(io.BytesIO(png(rows, colour, depth, **options))) as image:
            image.load()
            self.assertEqual(image.size, (len(rows[0]), len(rows)))
            return list(image.convert(mode).getdata())

    def test_gray_of_each_depth(self):
        for depth, mode in [(1, "1"), (2, "L"), (4, "L"), (8, "L"), (16, "I")]:
            top = 2 ** depth - 1
            values = [[top * ((x + y) % 2) for x in range(21)] for y in range(19)]
            scale = 65535 if depth == 16 else 255
            expected = [scale * value // top for row in values for value in row]
            for options in [{}, {"filtered": True}, {"interlaced": True}]:
                with self.subTest(depth, **options):
                    rows = [[(value,) for value in row] for row in values]
                    self.assertEqual(self.decoded(rows, 0, depth, mode, **options), expected)

    def test_colour_and_alpha(self):
        for colour, mode, width in [(2, "RGB", 3), (4, "LA", 2), (6, "RGBA", 4)]:
            rows = [[tuple(range(9 * x + y, 9 * x + y + width)) for x in range(21)] for y in range(19)]
            for options in [{}, {"filtered": True}, {"interlaced": True}]:
                with self.subTest(colour, **options):
                    self.assertEqual(self.decoded(rows, colour, 8, mode, **options), sum(rows, []))

    def test_the_file_begins_with_the_header_of_the_standard(self):
        header = png([[(0,), (1,), (0,)], [(1,), (0,), (1,)]], 3, 4, palette=bytes(6), interlaced=True)[:33]
        self.assertEqual(header[:16], b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR")
        self.assertEqual(header[16:29], b"\0\0\0\3\0\0\0\2\4\3\0\0\1")

    def test_palette_and_transparency(self):
        colours = bytes([1, 2, 3, 4, 5, 6])
        self.assertEqual(self.decoded([[(0,), (1,)]], 3, 4, "RGB", palette=colours), [(1, 2, 3), (4, 5, 6)])
        self.assertEqual(self.decoded([[(0,), (1,)]], 3, 1, "RGBA", palette=colours, transparency=b"\0"),
                         [(1, 2, 3, 0), (4, 5, 6, 255)])

    def test_a_picture_that_is_smaller_than_a_pass(self):
        self.assertEqual(self.decoded([[(7,)]], 0, 8, "L", interlaced=True), [7])


@unittest.skipIf(missing, missing)
class SymbolTests(unittest.TestCase):
    def test_a_symbol_has_finder_patterns_and_the_wanted_margin(self):
        dark = modules("a", "L")
        self.assertEqual(len(dark), 21)
        for row, column in [(0, 0), (0, 14), (14, 0)]:
            self.assertEqual([dark[row][column + x] for x in range(7)], [True] * 7)
            self.assertEqual([dark[row + 1][column + x] for x in range(7)], [True] + [False] * 5 + [True])
        drawn = pixels("a", module=3, margin=2, level="L")
        self.assertEqual({len(drawn)} | set(map(len, drawn)), {3 * (21 + 4)})
        self.assertEqual([row[6:-6:3] for row in drawn[6:-6:3]], dark)
        outside = drawn[:6] + drawn[-6:] + [row[:6] + row[-6:] for row in drawn]
        self.assertFalse(any(map(any, outside)))

    def test_a_picture_of_a_symbol_is_black_on_white(self):
        drawn = symbol("a", module=1, margin=1)
        self.assertEqual([drawn.getpixel(at) for at in [(0, 0), (1, 1), (2, 2), (3, 3)]], [255, 0, 255, 0])


@unittest.skipIf(missing, missing)
class PerspectiveTests(unittest.TestCase):
    def test_the_coefficients_map_each_target_to_its_source(self):
        targets, sources = [(150, 60), (515, 95), (480, 440), (120, 400)], [(0, 0), (90, 0), (90, 80), (0, 80)]
        a, b, c, d, e, f, g, h = perspective(targets, sources)
        for (x, y), (u, v) in zip(targets, sources):
            scale = g * x + h * y + 1
            self.assertAlmostEqual((a * x + b * y + c) / scale, u)
            self.assertAlmostEqual((d * x + e * y + f) / scale, v)


@unittest.skipIf(missing, missing)
class StoredPictureTests(unittest.TestCase):
    """Makes the stored pictures again. A different version of an encoder may choose other bytes."""

    def compare(self, make, folder, description):
        with tempfile.TemporaryDirectory() as temporary:
            made, stored = pathlib.Path(temporary), ROOT / "Vectors"
            make(made)
            self.assertEqual(json.loads((made / description).read_text()),
                             json.loads((stored / description).read_text()))
            names = sorted(path.name for path in (stored / folder).iterdir())
            self.assertEqual(sorted(path.name for path in (made / folder).iterdir()), names)
            for name in names:
                if not name.endswith(".json"):
                    with self.subTest(name):
                        self.same_picture(made / folder / name, stored / folder / name)

    def same_picture(self, made, stored):
        # Pillow does not read these.
        if stored.suffix == ".svg" or (stored.suffix == ".pdf" and stored.stem != "scan"):
            return self.assertEqual(made.read_bytes(), stored.read_bytes())
        if stored.suffix in (".heic", ".avif", ".pdf"):
            return None
        with Image.open(made) as left, Image.open(stored) as right:
            self.assertEqual((left.format, left.size, left.mode, left.info.keys(), dict(left.getexif())),
                             (right.format, right.size, right.mode, right.info.keys(), dict(right.getexif())))
            difference = ImageChops.difference(left.convert("RGBA"), right.convert("RGBA"))
            largest = max(high for _, high in difference.getextrema())
            self.assertLessEqual(largest, 0 if left.format == "PNG" else 8)
        return None

    def test_the_pictures_with_entries(self):
        self.compare(qr_vectors.make, "qr", "qr.json")

    def test_the_pictures_of_each_format(self):
        self.compare(format_vectors.make, "pictures", "pictures/formats.json")
