"""The layers of folders, and types in foreign targets: reads the table Scripts/support/layers."""
import re
from collections import defaultdict
from pathlib import Path


class Layers:
    def __init__(self, text):
        # For each target, the number of the line of each folder, and the number of its group within the line.
        self.places = defaultdict(dict)
        self.foreign = set()
        target, number = None, 0
        for number, line in enumerate(text.splitlines(), 1):
            line = line.partition("#")[0].rstrip()
            if line.startswith("foreign "):
                owner, user, *types = line.split()[1:]
                self.foreign |= {(owner, user, it) for it in types}
            elif line and not line.startswith(" "):
                target = line
            elif line:
                for group, part in enumerate(re.findall(r"\{[^}]*\}|\S+", line)):
                    for folder in part.strip("{}").split():
                        self.places[target][folder] = (number, group, part.startswith("{"))

    @classmethod
    def read(cls, root):
        return cls((Path(root) / "Scripts" / "support" / "layers").read_text(encoding="utf-8"))

    def faults(self, target, edges):
        """The faults of a target: `edges` has for each folder the folders whose types it names, and these types."""
        edges = {name(folder): {name(it): types for it, types in found.items()} for folder, found in edges.items()}
        places = self.places.get(target, {})
        if len(edges) < 2 and not places:
            return
        for folder in sorted(set(edges) - set(places)):
            yield f"the folder {folder} of {target} has no layer: add it to Scripts/support/layers"
        for folder in sorted(set(places) - set(edges)):
            yield f"Scripts/support/layers names the folder {folder} of {target}, which does not exist"
        for folder, found in sorted(edges.items()):
            for other, types in sorted(found.items()):
                if folder not in places or other not in places:
                    continue
                a, b = places[folder], places[other]
                if not (a[0] < b[0] or (a[:2] == b[:2] and a[2])):
                    yield (f"{target}/{folder} names {', '.join(sorted(types)[:4])} of {other}, which is no lower "
                           "layer in Scripts/support/layers")

    def strangers(self, declared, users):
        """Types that only one other target uses. `declared` has the target of each type, `users` the targets that
        name it; a type in the table that others use, too, is a fault."""
        found = set()
        for type_name, target in sorted(declared.items()):
            others = users.get(type_name, set())
            if target in others or len(others) != 1:
                continue
            user = next(iter(others))
            found.add((target, user, type_name))
            if (target, user, type_name) not in self.foreign:
                yield f"only {user} uses {type_name} of {target}: move it there"
        for target, user, type_name in sorted(self.foreign - found):
            yield f"Scripts/support/layers: {type_name} of {target} is not used by {user} alone; remove the name"

    def table(self):
        lines = ["| target | layers, each of which may use those to its right |", "|---|---|"]
        for target, places in sorted(self.places.items()):
            rows = defaultdict(list)
            for folder, (number, _, _) in places.items():
                rows[number].append(folder)
            lines.append(f"| {target} | {' → '.join(', '.join(rows[number]) for number in sorted(rows))} |")
        return lines


def name(folder):
    return "(top)" if folder == "." else folder
