/// A place in a document: a file and a JSON pointer.
struct Place: Hashable, Sendable {
    var file: String
    /// The pointer, empty for the whole file.
    var pointer: String

    /// The place of a member or an item.
    func child(_ key: String) -> Place {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        return Place(file: file, pointer: "\(pointer)/\(escaped)")
    }

    func child(_ position: Int) -> Place { child(String(position)) }

    /// The unescaped keys of the pointer.
    var keys: [String] {
        pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { String($0.replacing("~1", with: "/").replacing("~0", with: "~")) }
    }

    /// The last key, which names a component.
    var name: String {
        if let last = keys.last { return last }
        // A whole file: its name without folders and extension.
        let base = file.split(separator: "/").last.map(String.init) ?? file
        return base.split(separator: ".").first.map(String.init) ?? base
    }
}
