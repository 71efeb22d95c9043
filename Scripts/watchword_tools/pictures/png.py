"""Writes PNG variants that no common program writes: 16 bits, fewer than 8 bits, interlaced."""
import struct
import zlib

# Adam7: the first column and row of each pass, and the steps to the next ones.
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def packed(row, depth):
    """Returns the samples of a row as bytes; samples that are smaller than a byte share one."""
    samples = [sample for pixel in row for sample in pixel]
    if depth >= 8:
        return b"".join(sample.to_bytes(depth // 8, "big") for sample in samples)
    bits = "".join(format(sample, f"0{depth}b") for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def scan_lines(rows, depth, filtered):
    """Returns the rows, each with its filter byte: none, or if `filtered`, "up" from the second row on."""
    data, above = b"", None
    for line in (packed(row, depth) for row in rows if row):
        if filtered and above is not None:
            data += b"\2" + bytes((byte - before) % 256 for byte, before in zip(line, above))
        else:
            data += b"\0" + line
        above = line
    return data


def png(rows, colour, depth, *, palette=None, transparency=None, interlaced=False, filtered=False):
    """Returns a PNG file. `rows` are rows of pixels, each pixel a tuple of samples."""
    if interlaced:
        data = b"".join(scan_lines([row[x::dx] for row in rows[y::dy]], depth, filtered)
                        for x, y, dx, dy in PASSES)
    else:
        data = scan_lines(rows, depth, filtered)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), depth, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + (chunk(b"PLTE", palette) if palette else b"")
            + (chunk(b"tRNS", transparency) if transparency is not None else b"")
            + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))
