"""Random header blocks and frames by hpack and hyperframe of PyPI, and a check of those that the tests have written.

    framing_opinions.py write FOLDER SEED   writes stories and frames for StoryTests and SecondOpinionTests
    framing_opinions.py check FOLDER        reads what SecondOpinionTests have written
"""
import json
import random
import sys
from pathlib import Path

import hpack
from hyperframe import frame

NAMES = [":status", "server", "date", "content-type", "content-length", "etag", "set-cookie", "x-a", "x-long-name", "via"]
LETTERS = "abcxyz0189 ,;=/~^|\\é€"


def text(limit):
    return "".join(random.choice(LETTERS) for _ in range(random.randrange(limit))).strip()


def story():
    encoder, cases = hpack.Encoder(), []
    for _ in range(30):
        case = {}
        if random.random() < 0.1:
            case["header_table_size"] = encoder.header_table_size = random.choice([0, 64, 200, 1000, 4096])
        fields = [(name, random.choice(["200", "v", text(60), text(3000 if random.random() < 0.02 else 20)]))
                  for name in random.choices(NAMES, k=random.randrange(1, 12))]
        # Some fields are sensitive, which the encoder never indexes.
        written = [hpack.NeverIndexedHeaderTuple(n.encode(), v.encode()) if random.random() < 0.1
                   else (n.encode(), v.encode()) for n, v in fields]
        case["wire"] = encoder.encode(written, huffman=random.random() < 0.7).hex()
        case["headers"] = [{n: v} for n, v in fields]
        cases.append(case)
    return {"cases": cases}


def random_bytes(limit):
    return bytes(random.randrange(256) for _ in range(random.randrange(limit)))


def one_frame():
    """The bytes of a frame, and its text in the form of NaiveFramer.read."""
    stream = random.randrange(1, 1 << 31)
    kind = random.randrange(8)
    ends = random.random() < 0.5
    end = " end" if ends else ""
    if kind == 0:
        data, padding = random_bytes(300), random.randrange(40)
        made = frame.DataFrame(stream, data)
        if padding:
            made.flags.add("PADDED")
            made.pad_length = padding
        length = len(data) + (padding + 1 if padding else 0)
        result = f"data {stream} {data.hex()} {length}{end}"
    elif kind == 1:
        block, padding = random_bytes(300), random.randrange(40)
        made = frame.HeadersFrame(stream, block)
        made.flags.add("END_HEADERS")
        if padding:
            made.flags.add("PADDED")
            made.pad_length = padding
        if random.random() < 0.3:
            made.flags.add("PRIORITY")
            made.depends_on, made.stream_weight, made.exclusive = random.randrange(100), random.randrange(256), True
        result = f"head {stream} {block.hex()}{end}"
    elif kind == 2:
        made = frame.PriorityFrame(stream, depends_on=random.randrange(100), stream_weight=7)
        return made.serialize().hex(), f"priority {stream}"
    elif kind == 3:
        code = random.randrange(1 << 32)
        return frame.RstStreamFrame(stream, code).serialize().hex(), f"reset {stream} {code:08x}"
    elif kind == 4:
        if random.random() < 0.3:
            return frame.SettingsFrame(0, flags=["ACK"]).serialize().hex(), "settled"
        settings = {random.randrange(1, 10): random.randrange(1 << 32) for _ in range(random.randrange(5))}
        payload = "".join(f"{key:04x}{value:08x}" for key, value in settings.items())
        return frame.SettingsFrame(0, settings).serialize().hex(), f"settings {payload}"
    elif kind == 5:
        data = bytes(random.randrange(256) for _ in range(8))
        made = frame.PingFrame(0, data)
        if ends:
            made.flags.add("ACK")
        return made.serialize().hex(), ("pong " if ends else "ping ") + data.hex()
    elif kind == 6:
        last, code = random.randrange(1 << 31), random.randrange(1 << 32)
        made = frame.GoAwayFrame(0, last, code, random_bytes(20))
        return made.serialize().hex(), f"away {last:08x}{code:08x}"
    else:
        stream, increment = random.choice([0, stream]), random.randrange(1, 1 << 31)
        return frame.WindowUpdateFrame(stream, increment).serialize().hex(), f"window {stream} {increment:08x}"
    if ends:
        made.flags.add("END_STREAM")
    return made.serialize().hex(), result


def write(folder, seed):
    random.seed(seed)
    stories = folder / "stories"
    stories.mkdir()
    for number in range(40):
        (stories / f"random-{number}.json").write_text(json.dumps(story()), encoding="utf-8")
    frames = [one_frame() for _ in range(4000)]
    (folder / "frames.json").write_text(json.dumps([{"bytes": a, "text": b} for a, b in frames]))


def check(folder):
    written = json.loads((folder / "written.json").read_text(encoding="utf-8"))
    blocks = 0
    for heads in written["heads"]:
        decoder = hpack.Decoder()
        for head in heads:
            fields = [[n, v] for n, v in decoder.decode(bytes.fromhex(head["bytes"]))]
            assert fields == head["fields"], (fields, head)
            blocks += 1
    for item in written["frames"]:
        data = bytes.fromhex(item["bytes"])
        found, length = frame.Frame.parse_frame_header(memoryview(data[:9]), strict=True)
        assert length == len(data) - 9, item
        found.parse_body(memoryview(data[9:]))
        words = [type(found).__name__, str(found.stream_id), "+".join(sorted(found.flags))]
        if isinstance(found, (frame.DataFrame, frame.HeadersFrame, frame.ContinuationFrame)):
            words.append(found.data.hex())
        elif isinstance(found, frame.RstStreamFrame):
            words.append(str(found.error_code))
        elif isinstance(found, frame.SettingsFrame):
            words += [f"{int(key)}={value}" for key, value in found.settings.items()]
        elif isinstance(found, frame.PingFrame):
            words.append(found.opaque_data.hex())
        elif isinstance(found, frame.GoAwayFrame):
            words += [str(found.last_stream_id), str(found.error_code)]
        elif isinstance(found, frame.WindowUpdateFrame):
            words.append(str(found.window_increment))
        assert " ".join(words) == item["text"], (" ".join(words), item)
    assert blocks > 100 and len(written["frames"]) > 100
    print(f"framing: hpack and hyperframe have read {blocks} header blocks and {len(written['frames'])} frames")


if sys.argv[1] == "write":
    write(Path(sys.argv[2]), int(sys.argv[3]))
else:
    check(Path(sys.argv[2]))
