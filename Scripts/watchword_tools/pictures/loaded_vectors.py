"""Makes the pictures in Vectors/pictures whose formats are read with a library that is loaded when needed."""
import base64
import io
import subprocess
import tempfile
import zlib
from pathlib import Path

from .files import encoded
from .symbols import pixels


def converted(drawn, name, *command):
    """Writes a PNG, runs `command` on its path and that of a new file, and returns that file."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source.png"), Path(folder, name)
        drawn.save(source)
        subprocess.run([part.format(source=source, target=target) for part in command], check=True)
        return target.read_bytes()


def magick(drawn, name, *options, prefix=""):
    return converted(drawn, name, "convert", "{source}", *options, prefix + "{target}")


def put_gif(put, image, frames, texts):
    clear = image("RGBA", (0, 0, 0, 255), (0, 0, 0, 0))
    put("GIF", "still.gif", encoded(image("P", 0, 255), "GIF", interlace=0))
    put("GIF", "interlaced.gif", encoded(image("L", 0, 255), "GIF", interlace=1))
    put("GIF", "transparent.gif", magick(clear, "x.gif"), alpha=True)
    # Pillow stores only the part that differs from the previous frame.
    first, *others = [frame.convert("L") for frame in frames]
    animated = encoded(first, "GIF", save_all=True, append_images=others, duration=100)
    put("GIF", "animated.gif", animated, frames=len(frames), texts=texts)


def put_tiff(put, image, frames, texts):
    def tiff(drawn, **options):
        return encoded(drawn, "TIFF", **options)

    put("TIFF", "bilevel-group4.tiff", tiff(image("L", 0, 255).convert("1"), compression="group4"))
    put("TIFF", "gray-lzw.tiff", tiff(image("L", 0, 255), compression="tiff_lzw"))
    put("TIFF", "gray-16.tiff", magick(image("L", 0, 255), "x.tiff", "-depth", "16"))
    put("TIFF", "colour-deflate.tiff", tiff(image(dark=(0, 0, 160)), compression="tiff_adobe_deflate"), dark=18)
    put("TIFF", "colour-jpeg.tiff", tiff(image(), compression="jpeg"))
    put("TIFF", "cmyk.tiff", tiff(image("CMYK", (0, 0, 0, 255), (0, 0, 0, 0))))
    put("TIFF", "big-endian.tiff", magick(image(), "x.tiff", "-endian", "MSB", "-compress", "none"))
    clear = image("RGBA", (0, 0, 0, 255), (0, 0, 0, 0))
    put("TIFF", "alpha.tiff", tiff(clear, compression="tiff_lzw"), alpha=True)
    first, *others = frames
    put("TIFF", "pages.tiff", tiff(first, save_all=True, append_images=others, compression="tiff_lzw"),
        frames=len(frames), texts=texts)


def put_heif(put, image):
    clear = image("RGBA", (0, 0, 0, 255), (0, 0, 0, 0))
    encoder = ("heif-enc", "-q", "80", "{source}", "-o", "{target}")
    put("HEIC", "lossy.heic", converted(image(), "x.heic", *encoder))
    put("HEIC", "alpha.heic", converted(clear, "x.heic", *encoder), alpha=True)
    put("AVIF", "lossy.avif", magick(image(), "x.avif"))


def put_maps(put, image):
    two = image("L", 0, 255).convert("1")
    put("BMP", "two-colours.bmp", encoded(two, "BMP"))
    put("BMP", "palette.bmp", encoded(image("L", 0, 255), "BMP"))
    put("BMP", "colour.bmp", encoded(image(), "BMP"))
    put("BMP", "version-2.bmp", magick(image(), "x.bmp", "-type", "TrueColor", prefix="bmp2:"))
    put("BMP", "run-lengths.bmp", magick(image("L", 0, 255), "x.bmp", "-type", "Palette", "-compress", "RLE"))
    for name, drawn in (("pbm", two), ("pgm", image("L", 0, 255)), ("ppm", image())):
        put("PNM", f"binary.{name}", magick(drawn, f"x.{name}"))
        if name != "ppm":  # A plain PPM file would be large.
            put("PNM", f"plain.{name}", magick(drawn, f"x.{name}", "-compress", "none"))


def rectangles(text):
    """The position and width of each run of dark modules, in thirds of a module."""
    for y, row in enumerate(pixels(text, module=1, level="L")):
        x = 0
        while x < len(row):
            end = x
            while end < len(row) and row[end]:
                end += 1
            if end > x:
                yield 3 * x, 3 * y, 3 * (end - x)
            x = end + 1


def svg(drawn):
    return (f'<?xml version="1.0"?>\n<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99" '
            f'viewBox="0 0 99 99">{drawn}</svg>\n').encode()


def paths(text):
    return "".join(f'<path d="M{x} {y}h{width}v3h-{width}z"/>' for x, y, width in rectangles(text))


def pdf(pages, words=b""):
    """A PDF file with a vector drawing and `words` on each page; each object is followed by a newline."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * index} 0 R" for index in range(count))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {count}/Kids[{kids}]>>".encode()]
    for index, text in enumerate(pages):
        drawing = "".join(f"{x} {96 - y} {width} 3 re f\n" for x, y, width in rectangles(text)).encode()
        body = zlib.compress(drawing + words)
        # The font is not in the file.
        font = b"<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources%s/Contents %d 0 R>>"
                       % (font, 4 + 2 * index))
        objects.append(b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(body), body))
    file = io.BytesIO()
    file.write(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    file.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return file.getvalue()


def put_drawn(put, image, text, texts):
    white = '<rect width="99" height="99" fill="white"/>'
    put("SVG", "paper.svg", svg(white + paths(text)), side=1_000)
    put("SVG", "transparent.svg", svg(paths(text)), side=1_000, alpha=True)
    # The other image is not read.
    words = ('<text x="20" y="98" font-size="3">words in a font</text>'
             '<image href="file:///usr/share/pixmaps/debian-logo.png" width="99" height="99"/>')
    put("SVG", "words.svg", svg(white + paths(text) + words), side=1_000)
    embedded = base64.b64encode(encoded(image("L", 0, 255), "PNG")).decode()
    put("SVG", "embedded.svg", svg(f'<image href="data:image/png;base64,{embedded}" width="99" height="99"/>'),
        side=1_000)
    put("PDF", "words.pdf", pdf([text], b"BT /F 3 Tf 20 1 Td (words in a font) Tj ET\n"), side=1_000)
    put("PDF", "scan.pdf", encoded(image(), "PDF", resolution=72), side=1_000)
    put("PDF", "page.pdf", pdf([text]), side=1_000)
    put("PDF", "pages.pdf", pdf(texts), side=1_000, frames=len(texts), texts=texts)


def put_loaded(put, image, text, texts):
    """Keeps every picture; `put` is that of `FormatVectors`, `image` draws the symbol of a text."""
    frames = [image(text=each) for each in texts]
    put_gif(put, image, frames, texts)
    put_tiff(put, image, frames, texts)
    put_heif(put, image)
    put_maps(put, image)
    put_drawn(put, image, text, texts)
