"""Makes PNG files of pages small, for Scripts/peers/inspector-in-chromium: at most 256 colors, with a palette."""
import struct
import zlib
from collections import Counter


def chunks(data):
    position = 8
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        yield kind, data[position + 8:position + 8 + length]
        position += 12 + length


def rows(data):
    """The rows of an image with 8 bits for each of three or four channels, and the number of channels."""
    parts = list(chunks(data))
    width, height, depth, color = struct.unpack(">IIBB", dict(parts)[b"IHDR"][:10])
    if depth != 8 or color not in (2, 6):
        raise ValueError("only RGB and RGBA with 8 bits")
    size = 3 if color == 2 else 4
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    stride = width * size
    previous = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        if kind == 1:
            for x in range(size, stride):
                row[x] = row[x] + row[x - size] & 255
        elif kind == 2:
            for x in range(stride):
                row[x] = row[x] + previous[x] & 255
        elif kind == 3:
            for x in range(stride):
                row[x] = row[x] + ((row[x - size] if x >= size else 0) + previous[x]) // 2 & 255
        elif kind == 4:
            for x in range(stride):
                a, b, c = (row[x - size] if x >= size else 0), previous[x], (previous[x - size] if x >= size else 0)
                p, q, r = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                row[x] = row[x] + (a if p <= q and p <= r else b if q <= r else c) & 255
        yield row, size
        previous = row


def small(data):
    """The image with the 256 colors that it uses most; others become the nearest of these."""
    width, height = struct.unpack(">II", data[16:24])
    pixels = []
    for row, size in rows(data):
        red, green, blue = row[0::size], row[1::size], row[2::size]
        pixels.append(list(zip(red, green, blue)))
    counts = Counter(pixel for row in pixels for pixel in row)
    palette = [color for color, _ in counts.most_common(256)]
    index = {color: number for number, color in enumerate(palette)}
    for color in counts:
        if color not in index:
            index[color] = min(range(len(palette)), key=lambda it: sum(
                (a - b) ** 2 for a, b in zip(palette[it], color)))
    body = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in pixels)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return (data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", bytes(value for color in palette for value in color))
            + chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b""))
