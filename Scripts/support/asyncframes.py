"""Reads the sizes of async frames from a program: the symbols that end in `Tu` (decision 10)."""
import struct


def sizes(path):
    """The frame size of each async function, by its mangled name; the program is a 64-bit little-endian ELF file."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
    table, = struct.unpack_from("<Q", data, 0x28)
    count, = struct.unpack_from("<H", data, 0x3C)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * index) for index in range(count)]
    found = {}
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        for entry in range(offset, offset + size, 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, entry)
            if not 0 < section < count:
                continue
            start = sections[link][4] + name
            text = data[start:data.index(b"\0", start)].decode()
            if text.endswith("Tu"):
                place = sections[section][4] + value - sections[section][3]
                found[text] = struct.unpack_from("<iI", data, place)[1]  # the offset of the function, and the size
    return found
