"""Makes the pictures in Vectors/pictures: a small symbol in every supported variant of every format."""
import ctypes
import struct

from PIL import Image

from .files import PictureFolder, encoded
from .loaded_vectors import put_loaded
from .png import png
from .symbols import coloured, picture, pixels

TEXT = "otpauth://totp/a?secret=MFRGG"
TEXTS = [TEXT, TEXT[:-1] + "A", TEXT[:-1] + "B"]
SIDE = 99  # A row of bits ends within a byte.


def symbol(text=TEXT):
    return pixels(text, module=3, level="L")


def image(mode="RGB", dark=(0, 0, 0), light=(255, 255, 255), text=TEXT):
    return picture(symbol(text), mode, dark, light)


class FormatVectors(PictureFolder):
    def put(self, format, name, content, light=255, dark=0, *, alpha=False, texts=(TEXT,), frames=1,
            side=SIDE):
        """Keeps a file. `light` is the brightness of the margin over white, `dark` that of a dark module."""
        self.keep(name, content, format=format, width=side, height=side, frames=frames, alpha=alpha, light=light,
                  dark=dark, texts=list(texts))

    def put_png(self, name, colour, depth, dark, light, brightness=(255, 0), *, alpha=False, interlaced=False,
                **more):
        """Keeps a PNG file with the samples of dark and light pixels; `brightness` is that of light and dark."""
        content = png(coloured(symbol(), dark, light), colour, depth, interlaced=interlaced,
                      filtered=not interlaced, **more)
        self.put("PNG", name, content, *brightness, alpha=alpha)

    def put_jpeg(self, name, content, light=255, dark=0):
        self.put("JPEG", name, content, light, dark)

    def put_webp(self, name, content, **facts):
        self.put("WebP", name, content, **facts)


def put_png_of_each_depth(vectors, interlaced):
    tail = "-interlaced.png" if interlaced else ".png"
    for depth in (1, 2, 4, 8, 16):
        vectors.put_png(f"gray-{depth}{tail}", 0, depth, (0,), (2 ** depth - 1,), interlaced=interlaced)
    for depth in (1, 2, 4, 8):
        vectors.put_png(f"palette-{depth}{tail}", 3, depth, (0,), (1,), (244, 82),
                        palette=bytes([200, 30, 40, 250, 250, 200]), interlaced=interlaced)
    vectors.put_png(f"colour-8{tail}", 2, 8, (20, 30, 120), (255, 240, 220), (242, 37), interlaced=interlaced)
    vectors.put_png(f"gray-alpha-8{tail}", 4, 8, (0, 255), (0, 0), alpha=True, interlaced=interlaced)
    vectors.put_png(f"colour-alpha-8{tail}", 6, 8, (0, 0, 0, 255), (0, 0, 0, 0), alpha=True, interlaced=interlaced)


def put_other_png(vectors):
    vectors.put_png("colour-16.png", 2, 16, (0, 0, 0), (65535, 65535, 65535))
    vectors.put_png("gray-alpha-16.png", 4, 16, (0, 65535), (0, 0), alpha=True)
    vectors.put_png("colour-alpha-16.png", 6, 16, (0, 0, 0, 65535), (0, 0, 0, 0), alpha=True)
    vectors.put_png("gray-16-narrow.png", 0, 16, (300,), (420,))
    vectors.put_png("gray-transparent.png", 0, 8, (0,), (7,), alpha=True, transparency=struct.pack(">H", 7))
    vectors.put_png("colour-transparent.png", 2, 8, (0, 0, 0), (1, 2, 3), alpha=True,
                    transparency=struct.pack(">HHH", 1, 2, 3))
    vectors.put_png("palette-transparent.png", 3, 2, (0,), (1,), alpha=True, palette=bytes(6),
                    transparency=bytes([255, 0]))
    vectors.put_png("opaque-alpha.png", 6, 8, (0, 0, 0, 255), (255, 255, 255, 255))
    vectors.put_png("white-on-transparent.png", 6, 8, (255, 255, 255, 255), (255, 255, 255, 0), (255, 255),
                    alpha=True)
    vectors.put_png("dark-mode.png", 2, 8, (230, 230, 230), (24, 24, 27), (24, 230))


def without_adobe(data):
    """Removes Adobe's marker from a JPEG file."""
    at = data.index(b"\xff\xee")
    length = struct.unpack(">H", data[at + 2:at + 4])[0]
    return data[:at] + data[at + 2 + length:]


def ycck():
    """Converts CMYK to YCCK, inverted as in Adobe's files."""
    library = ctypes.CDLL("libturbojpeg.so.0")
    library.tjInitCompress.restype = ctypes.c_void_p
    inks = image("CMYK", (0, 0, 0, 0), (255, 255, 255, 255)).tobytes()
    buffer, size = ctypes.c_void_p(), ctypes.c_ulong()
    handle = ctypes.c_void_p(library.tjInitCompress())
    pixel_format_cmyk = 11
    code = library.tjCompress2(handle, inks, SIDE, 0, SIDE, pixel_format_cmyk, ctypes.byref(buffer),
                               ctypes.byref(size), 0, 90, 0)
    assert code == 0
    return ctypes.string_at(buffer, size.value)


def put_jpeg(vectors):
    def jpeg(drawn, **options):
        return encoded(drawn, "JPEG", quality=85, **options)

    vectors.put_jpeg("baseline.jpg", jpeg(image()))
    vectors.put_jpeg("progressive.jpg", jpeg(image(), progressive=True))
    vectors.put_jpeg("gray.jpg", jpeg(image("L", 0, 255)))
    vectors.put_jpeg("subsampled.jpg", jpeg(image(dark=(0, 0, 160)), subsampling=2), dark=18)
    # Pillow writes CMYK as Adobe's programs do: inverted, and with Adobe's marker.
    vectors.put_jpeg("cmyk-adobe.jpg", jpeg(image("CMYK", (0, 0, 0, 255), (0, 0, 0, 0))))
    plain = jpeg(image("CMYK", (255, 255, 255, 0), (255, 255, 255, 255)))
    vectors.put_jpeg("cmyk-plain.jpg", without_adobe(plain))
    vectors.put_jpeg("ycck.jpg", ycck())
    # Each is turned, and marked with the orientation that undoes it.
    turn = Image.Transpose
    turned = {2: turn.FLIP_LEFT_RIGHT, 3: turn.ROTATE_180, 4: turn.FLIP_TOP_BOTTOM, 5: turn.TRANSPOSE,
              6: turn.ROTATE_90, 7: turn.TRANSVERSE, 8: turn.ROTATE_270}
    for orientation, how in turned.items():
        exif = Image.Exif()
        exif[0x0112] = orientation
        vectors.put_jpeg(f"exif-{orientation}.jpg", jpeg(image().transpose(how), exif=exif))


def put_webp(vectors):
    clear = image("RGBA", (0, 0, 0, 255), (0, 0, 0, 0))
    vectors.put_webp("lossy.webp", encoded(image(), "WEBP", quality=80))
    vectors.put_webp("lossless.webp", encoded(image(), "WEBP", lossless=True))
    vectors.put_webp("lossy-alpha.webp", encoded(clear, "WEBP", quality=80), alpha=True)
    vectors.put_webp("lossless-alpha.webp", encoded(clear, "WEBP", lossless=True, exact=True), alpha=True)
    texts = TEXTS
    first, *others = [image(text=text) for text in texts]
    for name, lossless in (("animated-lossy.webp", False), ("animated-lossless.webp", True)):
        content = encoded(first, "WEBP", save_all=True, append_images=others, quality=80, duration=100,
                          lossless=lossless, kmin=1, kmax=1)
        vectors.put_webp(name, content, frames=len(texts), texts=texts)


def make(root):
    """Makes the folder `pictures` in the folder `root`; returns the number of pictures."""
    vectors = FormatVectors(root / "pictures")
    for interlaced in (False, True):
        put_png_of_each_depth(vectors, interlaced)
    put_other_png(vectors)
    put_jpeg(vectors)
    put_webp(vectors)
    put_loaded(vectors.put, image, TEXT, TEXTS)
    vectors.describe(root / "pictures" / "formats.json",
                     "made by Scripts/make-format-pictures; `light` is the brightness of the margin over white, "
                     "`dark` that of a dark module")
    return len(vectors.cases)
