/// A fault of a document, or a part of it that is not generated, with its place.
public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a problem means for the output.
    public enum Kind: String, Sendable, Hashable {
        /// The document is not valid; nothing is generated.
        case error
        /// A part is not generated, and the rest is.
        case refused
        /// The output leaves something out that has no effect on requests and types.
        case note
    }

    /// What the problem means for the output.
    public var kind: Kind
    /// The file, as it was named.
    public var file: String
    /// The line, from 1; 0 if it is unknown.
    public var line: Int
    /// The place in the file as a JSON pointer (RFC 6901).
    public var pointer: String
    /// The operation or the schema that is not generated; empty for others.
    public var subject: String
    /// A sentence that says what is wrong.
    public var message: String

    /// The form of compilers: `file:line: kind: message (at pointer)`.
    public var description: String {
        let name = subject.isEmpty ? "" : "\(subject): "
        return "\(file):\(line): \(kind.rawValue): \(name)\(message) (at #\(pointer))"
    }
}
