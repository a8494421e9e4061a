"""Splits Swift source text into code, comments and string literals, and finds declarations, for the checks in Scripts/."""
import functools
import re

SCOPE = re.compile(r"\b(?:class|struct|enum|actor|extension)\s+(?!(?:func|var|let|subscript)\b)([\w.]+)[^{}]*\{")
MEMBER = re.compile(r"(?<![.\w])(?:(?:func|var|let)\s+`?(\w+|==)`?|(init|subscript)\b)")
CONTINUED = re.compile(r"\s*(?:[.?:&|=+\-*/<>{]|(?:else|where|async|throws|catch)\b)")
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


class Source:
    """A file in which members of types are found by their names."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code, self.closing, self.depths = None, {}, []

    def parse(self):
        """Finds the brackets, in the text without comments and strings."""
        self.code, opened = code_of(self.text), []
        self.plain = "".join(re.sub(r"[^\n]", " ", part) if kind == "comment" else part
                             for kind, part in split(self.text))
        for index, character in enumerate(self.code):
            self.depths.append(len(opened))
            if character in "([{":
                opened.append(index)
            elif character in ")]}" and opened:
                self.closing[opened.pop()] = index

    def end(self, start):
        """The end of the statement or declaration that begins here."""
        index = start
        while index < len(self.code):
            character = self.code[index]
            if character in ")]};" or character == "\n" and not (
                    re.search(r"(?:[,=:?&|+(]|->)\s*$", self.code[start:index]) or CONTINUED.match(self.code, index)):
                break
            index = self.closing.get(index, index) + 1
        return start + len(self.code[start:index].rstrip())

    def members(self, type_name, name, labels):
        """The bodies of the members of a type with a name, or of functions outside of types; the values of constants."""
        if self.code is None:
            self.parse()
        scopes = [] if type_name else [(0, 0, len(self.code))]
        for match in SCOPE.finditer(self.code) if type_name else []:
            if f".{match[1]}".endswith(f".{type_name}") or f".{type_name}".endswith(f".{match[1]}"):
                scopes.append((self.depths[match.end() - 1] + 1, match.end(), self.closing[match.end() - 1]))
        for depth, start, stop in scopes:
            for match in MEMBER.finditer(self.code, start, stop):
                if (match[1] or match[2]) == name and self.depths[match.start()] == depth:
                    body = self.body(match.end(), self.end(match.start()), labels)
                    if body:
                        yield body

    def body(self, index, end, labels):
        """The body of a declaration without its braces; None if it has other argument labels."""
        opening = self.code.find("(", index, end)
        if labels is not None and (opening < 0 or labels != self.labels(opening)):
            return None
        start = index
        while index < end and self.code[index] != "=":
            if self.code[index] == "{":
                return index + 1, self.closing[index]
            index = self.closing.get(index, index) + 1
        return start, end

    def labels(self, opening):
        """The argument labels of a function, such as `of:in:`."""
        index, starts = opening + 1, [opening + 1]
        while index < self.closing[opening]:
            index = self.closing.get(index, index) + 1
            if self.code[index - 1] == ",":
                starts.append(index)
        words = [re.compile(r"\s*(\w+)[^:]*:").match(self.code, start) for start in starts]
        return "".join(f"{word[1]}:" for word in words if word)
