/// The files of a document: the first one, and those that its references name.
///
/// A class, because files are read when a reference first names them.
final class Documents {
    /// Returns the text of a file.
    typealias Load = (String) throws -> String

    private let load: Load
    private var files: [String: Node?] = [:]
    private var found: [Place: Node] = [:]
    private(set) var problems: [Problem] = []
    private var known: Set<Problem> = []

    init(load: @escaping Load) { self.load = load }

    func report(
        _ kind: Problem.Kind, _ place: Place, _ message: String, subject: String = "",
        line: Int? = nil
    ) {
        let problem = Problem(
            kind: kind, file: place.file, line: line ?? self.line(of: place),
            pointer: place.pointer,
            subject: subject, message: message)
        if known.insert(problem).inserted { problems.append(problem) }
    }

    /// The line of a place, or of the nearest place around it; 0 for an unknown file.
    func line(of place: Place) -> Int {
        guard var node = root(of: place.file) else { return 0 }
        var line = node.line
        for key in place.keys {
            guard let child = Self.child(key, of: node) else { return line }
            node = child
            line = child.line
        }
        return line
    }

    /// The value at a place; `nil` if there is none.
    func node(at place: Place) -> Node? {
        if let node = found[place] { return node }
        guard var node = root(of: place.file) else { return nil }
        for key in place.keys {
            guard let child = Self.child(key, of: node) else { return nil }
            node = child
        }
        found[place] = node
        return node
    }

    private static func child(_ key: String, of node: Node) -> Node? {
        if let items = node.items {
            guard let position = Int(key), items.indices.contains(position) else { return nil }
            return items[position]
        }
        return node[key]
    }

    /// The value of a file; `nil`, and a problem, if it cannot be read.
    func root(of file: String) -> Node? {
        if let known = files[file] { return known }
        files[file] = .some(nil)
        let text: String
        do {
            text = try load(file)
        } catch {
            let problem = Problem(
                kind: .error, file: file, line: 0, pointer: "", subject: "",
                message: "The file cannot be read: \(error).")
            problems.append(problem)
            return nil
        }
        do throws(JSONText.Fault) {
            let (node, repeated) = try Self.read(text, isJSON: Self.isJSON(text, file))
            for (key, line) in repeated {
                problems.append(
                    Problem(
                        kind: .error, file: file, line: line, pointer: "", subject: "",
                        message: "The key \"\(key)\" occurs twice in this object."))
            }
            files[file] = node
            return node
        } catch {
            problems.append(
                Problem(
                    kind: .error, file: file, line: error.line, pointer: "", subject: "",
                    message: error.message))
            return nil
        }
    }

    private static func isJSON(_ text: String, _ file: String) -> Bool {
        file.hasSuffix(".json") || text.drop(while: \.isWhitespace).first == "{"
    }

    private static func read(
        _ text: String, isJSON: Bool
    ) throws(JSONText.Fault) -> (Node, [(key: String, line: Int)]) {
        if isJSON {
            var reader = JSONText(text)
            return (try reader.read(), reader.repeatedKeys)
        }
        var reader = YAMLText(text)
        return (try reader.read(), reader.repeatedKeys)
    }

    // MARK: - References

    /// The place that a reference names, from the file that contains it.
    func target(of reference: String, from place: Place) -> Place {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts[0])
        var pointer = parts.count > 1 ? parts[1].percentDecoded : ""
        if pointer == "/" { pointer = "" }
        let file = path.isEmpty ? place.file : Self.file(path, beside: place.file)
        if !pointer.isEmpty, !pointer.hasPrefix("/") {
            // The name of an anchor (JSON Schema 2020-12, §8.2.2); an unknown one leads to nothing.
            pointer = anchors(of: file)[pointer] ?? "/\(pointer)"
        }
        return Place(file: file, pointer: pointer)
    }

    /// The place that a value of the `mapping` of a discriminator names: a component by its name, or a reference.
    func target(ofMapping text: String, from place: Place) -> Place {
        let named = Place(file: place.file, pointer: "").child("components").child("schemas")
            .child(text)
        let isName = !text.contains { "#/.".contains($0) }
        return isName || node(at: named) != nil ? named : target(of: text, from: place)
    }

    private var anchorsOfFiles: [String: [String: String]] = [:]

    /// The pointers of the anchors of a file.
    private func anchors(of file: String) -> [String: String] {
        if let known = anchorsOfFiles[file] { return known }
        var anchors: [String: String] = [:]
        func find(_ node: Node, _ place: Place) {
            for (key, value) in node.members ?? [] {
                if key == "$anchor" || key == "$dynamicAnchor", let name = value.string,
                    anchors[name] == nil
                {
                    anchors[name] = place.pointer
                }
                find(value, place.child(key))
            }
            for (position, item) in (node.items ?? []).enumerated() {
                find(item, place.child(position))
            }
        }
        if let root = root(of: file) { find(root, Place(file: file, pointer: "")) }
        anchorsOfFiles[file] = anchors
        return anchors
    }

    private static func file(_ path: String, beside file: String) -> String {
        if path.hasPrefix("/") || path.contains("://") { return path }
        var folders = file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .map(String.init)
        for part in path.split(separator: "/") {
            switch part {
            case ".": continue
            case ".." where !folders.isEmpty && folders.last != "..": folders.removeLast()
            default: folders.append(String(part))
            }
        }
        return folders.joined(separator: "/")
    }

    /// The text of the reference that a value is; a problem if it is something else.
    func reference(of node: Node, _ place: Place, key: String = "$ref") -> String? {
        guard let value = node[key] else { return nil }
        if value.string == nil {
            report(
                .error, place.child(key), "`\(key)` must be a string, not \(value.kind).")
        }
        return value.string
    }

    /// Follows references until a value that is none; `nil`, and a problem, for a missing target or a circle.
    func resolve(_ place: Place) -> (node: Node, place: Place)? {
        var place = place
        var seen: Set<Place> = []
        while let node = node(at: place) {
            guard let reference = reference(of: node, place) else { return (node, place) }
            guard seen.insert(place).inserted else {
                report(.error, place, "The reference leads to itself.")
                return nil
            }
            let target = target(of: reference, from: place)
            guard self.node(at: target) != nil else {
                report(.error, place, "The reference \"\(reference)\" leads to nothing.")
                return nil
            }
            place = target
        }
        return nil
    }
}
