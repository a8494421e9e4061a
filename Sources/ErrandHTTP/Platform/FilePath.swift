/// Operations on the text of paths, without access to files; pure.
package enum FilePath {
    /// The path of the folder: `/a` for `/a/b` and `/a/b/`, `.` for a name alone.
    package static func folder(of path: String) -> String {
        var bytes = path.utf8[...]
        let slash = UInt8(ascii: "/")
        let isAbsolute = bytes.first == slash
        while bytes.last == slash { bytes.removeLast() }
        while let last = bytes.last, last != slash { bytes.removeLast() }
        while bytes.last == slash { bytes.removeLast() }
        return bytes.isEmpty ? (isAbsolute ? "/" : ".") : String(Substring(bytes))
    }

    /// The last component: `b` for `/a/b` and `/a/b/`.
    package static func name(of path: String) -> String {
        path.pieces(at: "/").last.map { String($0) } ?? ""
    }

    /// The path of a file in a folder.
    package static func path(_ folder: String, _ name: String) -> String {
        folder.utf8.last == UInt8(ascii: "/") ? folder + name : folder + "/" + name
    }
}
