"""Pictures that contain more than a symbol: a page on a screen, a photo, a landscape."""
import random

from PIL import Image, ImageDraw, ImageFilter

from .symbols import symbol


def screenshot(text, background, foreground, lines):
    """Imitates a page with a symbol; bars represent the text."""
    image = Image.new("RGB", (420, 560), background)
    draw = ImageDraw.Draw(image)
    chance = random.Random(text)
    draw.rectangle((0, 0, 420, 36), fill=lines)
    shown = symbol(text, module=5)
    image.paste(Image.merge("RGB", [shown.point(lambda v, f=f, b=b: f if v < 128 else b)
                                    for f, b in zip(foreground, background)]), (40, 80))
    for row in range(4):
        draw.rectangle((40, 470 + row * 18, 120 + chance.randrange(260), 478 + row * 18), fill=lines)
    return image


def photo(text):
    """Imitates a photo of a screen: rotated, in perspective, unevenly lit, noisy."""
    chance = random.Random(7)
    image = Image.new("L", (640, 480), 120)
    draw = ImageDraw.Draw(image)
    for _ in range(60):
        x, y = chance.randrange(640), chance.randrange(480)
        draw.ellipse((x, y, x + chance.randrange(150), y + chance.randrange(90)),
                     fill=chance.randrange(60, 190))
    shown = symbol(text, module=6)
    side = shown.width
    corners = [(150, 60), (515, 95), (480, 440), (120, 400)]
    source = [(0, 0), (side, 0), (side, side), (0, side)]
    turned = shown.transform(image.size, Image.PERSPECTIVE, perspective(corners, source),
                             Image.BICUBIC)
    mask = Image.new("L", image.size, 0)
    ImageDraw.Draw(mask).polygon(corners, fill=255)
    image.paste(turned, (0, 0), mask)
    light = Image.linear_gradient("L").rotate(90).resize(image.size)
    lit = Image.new("L", image.size)
    lit.putdata([min(255, max(0, int(value * (0.55 + glow / 560)) + chance.randrange(-14, 15)))
                 for value, glow in zip(image.tobytes(), light.tobytes())])
    lit = lit.filter(ImageFilter.GaussianBlur(0.8))
    return Image.merge("RGB", (lit, lit.point(lambda v: v * 0.97), lit.point(lambda v: v * 0.9)))


def perspective(targets, sources):
    """Computes the eight coefficients with which Pillow maps `targets` to `sources` (Gaussian elimination)."""
    rows = []
    for (x, y), (u, v) in zip(targets, sources):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for column in range(8):
        pivot = max(range(column, 8), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(8):
            if row != column:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column])]
    return [row[8] for row in rows]


def landscape():
    image = Image.linear_gradient("L").resize((320, 240))
    draw = ImageDraw.Draw(image)
    draw.ellipse((220, 30, 270, 80), fill=255)
    draw.polygon([(0, 240), (90, 120), (180, 200), (250, 140), (320, 240)], fill=40)
    return image
