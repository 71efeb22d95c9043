"""QR symbols, drawn by the program qrencode."""
import subprocess

from PIL import Image


def modules(text, level):
    """Returns the symbol as rows of booleans; true is dark."""
    drawn = subprocess.run(["qrencode", "-8", "-l", level, "-m", "0", "-t", "ASCII", "-o", "-"],
                           input=text.encode(), check=True, capture_output=True).stdout.decode()
    # Each module is two characters wide.
    return [[cell == "#" for cell in line[::2]] for line in drawn.split("\n") if line]


def pixels(text, module=4, margin=4, level="M"):
    """Returns the symbol with its margin, as rows of booleans; each module has `module` pixels a side."""
    dark = modules(text, level)
    side = len(dark) + 2 * margin
    blank = [False] * margin
    rows = [[False] * side] * margin + [blank + row + blank for row in dark] + [[False] * side] * margin
    return [[cell for cell in row for _ in range(module)] for row in rows for _ in range(module)]


def coloured(rows, dark, light):
    """Returns rows of pixels in two colours."""
    return [[dark if is_dark else light for is_dark in row] for row in rows]


def picture(rows, mode, dark, light):
    """Draws rows of booleans in two colours."""
    image = Image.new(mode, (len(rows[0]), len(rows)))
    image.putdata([pixel for row in coloured(rows, dark, light) for pixel in row])
    return image


def symbol(text, **options):
    """Draws a symbol as a grey-scale picture."""
    return picture(pixels(text, **options), "L", 0, 255)
