"""Makes the pictures in Vectors/qr: what a camera or a screenshot may contain, with the entries in it."""
import pathlib

from PIL import Image

from .files import PictureFolder, encoded
from .otpauth import entry, migration, uri
from .png import png
from .scenes import landscape, photo, screenshot
from .symbols import coloured, pixels, symbol

EARLY, LATE, FAR = 1_700_000_000, 1_893_456_000, 4_102_444_800
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".webp": "WEBP"}


class QRVectors(PictureFolder):
    def put(self, name, kind, content, texts, entries, **options):
        """Keeps a picture: a file, or an image in the format that the name says, unless `format` is given."""
        if not isinstance(content, bytes):
            options.setdefault("format", FORMATS[pathlib.PurePath(name).suffix])
            content = encoded(content, **options)
        self.keep(name, content, kind=kind, texts=texts, entries=entries)

    def one(self, name, kind, made, draw=symbol, text=None, **options):
        """Keeps the symbol of one entry."""
        text = text or uri(made)
        self.put(name, kind, draw(text), [text], [made], **options)


def raw(colour, depth, dark, light, margin=4, module=4, **options):
    """Returns a function that draws a symbol as a PNG file, with the samples of dark and light pixels."""
    def draw(text):
        rows = pixels(text, module=module, margin=margin)
        return png(coloured(rows, dark, light), colour, depth, **options)
    return draw


def put_png(vectors):
    vectors.one("png-gray.png", "PNG, 8-bit gray", entry("Example", "alice@example.com", time=EARLY), optimize=True)
    vectors.one("png-1bit.png", "PNG, 1-bit gray", entry("Acme Bank", "bob", time=59), raw(0, 1, (0,), (1,)))
    palette = bytes([255, 0, 0, 0, 255, 0, 20, 30, 110, 9, 9, 9, 0, 0, 0, 250, 244, 220])
    vectors.one("png-palette.png", "PNG, 4-bit palette, blue on cream", entry("Blue Cloud", "carol", time=LATE),
                raw(3, 4, (2,), (5,), palette=palette))
    vectors.one("png-gray-16bit.png", "PNG, 16-bit gray that uses the lower half of the range",
                entry("Deep Gray", "dan@example.org", time=EARLY), raw(0, 16, (900,), (30_000,), module=3))
    vectors.one("png-interlaced.png", "PNG, 8-bit colour, interlaced",
                entry("Early Bird", "erin", period=60, time=LATE),
                raw(2, 8, (0, 0, 60), (255, 255, 255), interlaced=True))
    vectors.one("png-transparent.png", "PNG with alpha: black on transparent black",
                entry("Foggy", "frank", time=EARLY), raw(6, 8, (0, 0, 0, 255), (0, 0, 0, 0)))
    vectors.one("png-white-on-transparent.png", "PNG with alpha: white on transparent",
                entry("Ghost", "grace", time=EARLY), raw(4, 8, (255, 255), (255, 0), margin=2))


def put_screenshots(vectors):
    vectors.one("dark-mode.png", "screenshot in dark mode: a light symbol on a dark page",
                entry("Night Owl", "heidi@example.net", time=LATE),
                lambda text: screenshot(text, (24, 26, 32), (226, 228, 235), (70, 74, 88)), optimize=True)
    vectors.one("screenshot.png", "screenshot of a light page", entry("Paper Mill", "ivan", time=EARLY),
                lambda text: screenshot(text, (255, 255, 255), (0, 0, 0), (190, 200, 215)), optimize=True)
    vectors.one("no-quiet-zone.png", "no margin around the symbol", entry("Edge", "judy", time=EARLY),
                lambda text: symbol(text, margin=0), optimize=True)


def put_jpeg_and_webp(vectors):
    def colour(text):
        return symbol(text).convert("RGB")

    def on_transparent(text):
        drawn = symbol(text)
        dark = Image.new("L", drawn.size, 0)
        return Image.merge("LA", (dark, drawn.point(lambda value: 255 - value))).convert("RGBA")

    vectors.one("jpeg.jpg", "JPEG, baseline, colour",
                entry("Kiosk", "mallory", algorithm="SHA256", time=LATE, length=32), colour, quality=70)
    vectors.one("jpeg-progressive.jpg", "JPEG, progressive, gray; SHA-512 and 8 digits",
                entry("Lantern", "niaj", algorithm="SHA512", digits=8, time=EARLY, length=64),
                quality=60, progressive=True)
    vectors.one("webp-lossy.webp", "WebP, lossy", entry("Meadow", "olivia", time=FAR), colour, quality=50)
    vectors.one("webp-lossless.webp", "WebP, lossless, with alpha", entry("Nimbus", "peggy", digits=8, time=LATE),
                on_transparent, lossless=True)
    vectors.one("wrong-name.png", "a JPEG whose name says PNG", entry("Opal", "rupert", time=EARLY),
                format="JPEG", quality=80)


def put_several_entries(vectors):
    pair = [entry("Twin Left", "sybil", time=EARLY), entry("Twin Right", "sybil", time=LATE)]
    drawn = [symbol(uri(made)) for made in pair]
    page = Image.new("L", (sum(image.width for image in drawn) + 40, max(image.height for image in drawn)), 255)
    page.paste(drawn[0], (0, 0))
    page.paste(drawn[1], (drawn[0].width + 40, 0))
    vectors.put("two-symbols.png", "two symbols side by side", page, [uri(made) for made in pair], pair,
                optimize=True)
    moved = [[entry("Export", "first@example.com", time=EARLY), entry("Export", "counted", type="hotp", counter=41)],
             [entry("Export", "eight digits", algorithm="SHA256", digits=8, time=LATE, length=32)]]
    for index, entries in enumerate(moved):
        text = migration(entries, len(moved), index, 1_234_567)
        vectors.put(f"migration-{index + 1}-of-2.png", f"Google Authenticator's export, part {index + 1} of 2",
                    symbol(text), [text], entries, optimize=True)


def put_other_types_and_names(vectors):
    vectors.one("steam.png", "Steam Guard", entry("Steam", "trent", type="steam", digits=5, time=LATE), optimize=True)
    vectors.one("hotp.png", "HOTP", entry("Counting House", "victor", type="hotp", counter=7), optimize=True)
    vectors.one("utf8-escaped.png", "percent-encoded UTF-8 in the label",
                entry("Größenwahn GmbH", "zoë@beispiel.de", time=EARLY), optimize=True)
    raw_label = entry("Café Ørsted", "walter@例え.jp", time=EARLY)
    vectors.one("utf8-raw.png", "raw UTF-8 and a raw space in the label", raw_label,
                text=uri(raw_label, escape=str), optimize=True)


def put_photo_and_others(vectors):
    vectors.one("photo.jpg", "like a photo: turned, from the side, unevenly lit, noisy",
                entry("Viewfinder", "xenia", time=EARLY), photo, quality=45)
    link = "https://example.com/menu"
    vectors.put("link.png", "a symbol that holds no entry", symbol(link), [link], [], optimize=True)
    vectors.put("no-symbol.jpg", "a landscape, no symbol", landscape(), [], [], quality=60)


def make(root):
    """Makes the folder `qr` and the file qr.json in the folder `root`."""
    vectors = QRVectors(root / "qr")
    for part in (put_png, put_screenshots, put_jpeg_and_webp, put_several_entries, put_other_types_and_names,
                 put_photo_and_others):
        part(vectors)
    vectors.describe(root / "qr.json", "Made by Scripts/make-pictures, which computes the codes itself; keys "
                     "invented there. The symbols are drawn by qrencode.")
