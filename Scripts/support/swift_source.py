"""Splits Swift source text into code, comments and string literals, for the checks in Scripts/."""
import functools
import re

DECLARATION = re.compile(
    r"^(?P<indent>[ ]*)(?:@\w+(?:\([^()]*\))?\s+)*"
    r"(?P<modifiers>(?:(?:public|package|internal|private|fileprivate|open|final|nonisolated|indirect)\s+)*)"
    r"(?P<kind>class|struct|enum|protocol|actor|typealias)\s+(?P<name>\w+)", re.M)


@functools.lru_cache(maxsize=None)
def split(text):
    """Returns a list of (kind, text) pairs; joined, they are the input. Interpolations count as code."""
    parts = []
    start = 0
    length = len(text)

    def flush(end, kind="code"):
        nonlocal start
        if end > start:
            parts.append((kind, text[start:end]))
        start = end

    def comment(index):
        flush(index)
        if text.startswith("//", index):
            end = text.find("\n", index)
            end = length if end < 0 else end
        else:
            depth, end = 1, index + 2
            while end < length and depth:
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
        flush(end, "comment")
        return end

    def string(index):
        nonlocal start
        hashes, quotes = re.match(r'(#*)("""|")', text[index:]).groups()
        start = index
        index += len(hashes) + len(quotes)
        escape = "\\" + hashes
        while index < length:
            if text.startswith(quotes + hashes, index):
                index += len(quotes) + len(hashes)
                break
            if text.startswith(escape, index):
                after = index + len(escape)
                if text.startswith("(", after):
                    flush(after + 1, "string")
                    index = code(after + 1, until_parenthesis=True)
                    flush(index)
                    continue
                index = after + 1
                continue
            if quotes == '"' and text[index] == "\n":
                break
            index += 1
        flush(min(index, length), "string")
        return index

    def code(index, until_parenthesis=False):
        depth = 0
        while index < length:
            character = text[index]
            if character == "/" and text[index + 1:index + 2] in ("/", "*"):
                index = comment(index)
                continue
            if character == '"' or (character == "#" and re.match(r'#+"', text[index:index + 8])):
                flush(index)
                index = string(index)
                continue
            if until_parenthesis:
                if character == "(":
                    depth += 1
                elif character == ")":
                    if depth == 0:
                        return index
                    depth -= 1
            index += 1
        return index

    code(0)
    flush(length)
    return parts


@functools.lru_cache(maxsize=None)
def code_of(text):
    """The text with comments and string literals blanked; line numbers stay the same."""
    return "".join(part if kind == "code" else re.sub(r"[^\n]", " ", part) for kind, part in split(text))


@functools.lru_cache(maxsize=None)
def types_of(code):
    """The declared types of a file: (name, kind, modifiers, whether it is declared at the top level)."""
    found = []
    conditional = re.sub(r"^(\s*)(?=#(?:if|else|endif))", "", code, flags=re.M)
    depth_of_conditions = 0
    lines = conditional.splitlines()
    base = [0] * len(lines)
    for number, line in enumerate(lines):
        if line.startswith("#if"):
            depth_of_conditions += 1
        elif line.startswith("#endif"):
            depth_of_conditions -= 1
        base[number] = depth_of_conditions
    for number, line in enumerate(lines):
        match = DECLARATION.match(line)
        if match:
            # swift-format indents the contents of #if by four columns.
            indent = len(match["indent"])
            found.append((match["name"], match["kind"], match["modifiers"].split(), indent <= 4 * base[number]))
    return tuple(found)
