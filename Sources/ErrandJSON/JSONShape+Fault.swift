extension JSONShape {
    /// A position at which a value does not match its shape.
    public struct Fault: Sendable, Hashable, CustomStringConvertible {
        /// The position as a normalised path of RFC 9535, for example `$['users'][3]['id']`.
        public var path: String
        /// The steps of ``path`` from the top of the document, as values.
        ///
        /// Empty for the document itself, and for a fault that was created from a path alone.
        public var steps: [Step]
        /// The expected kind, for example `a number`.
        public var expected: String
        /// The kind of the value found, for example `a string`, or `nothing`.
        ///
        /// It never contains the value itself, which may be secret.
        public var found: String

        /// One step of a path.
        public enum Step: Sendable, Hashable {
            /// The member of an object with this key.
            case key(String)
            /// The item of an array at this position, from 0.
            case index(Int)
        }

        /// Creates a fault from a path as text; ``steps`` is empty.
        public init(path: String, expected: String, found: String) {
            self.path = path
            steps = []
            self.expected = expected
            self.found = found
        }

        /// Creates a fault from the steps of a path; ``path`` is their text.
        public init(steps: [Step], expected: String, found: String) {
            path = ShapePath(steps).description
            self.steps = steps
            self.expected = expected
            self.found = found
        }

        /// The fault in one sentence, for example `$['id']: expected a number, found a string`.
        public var description: String { "\(path): expected \(expected), found \(found)" }
    }
}

/// The error thrown for a value that does not match its shape.
public struct JSONShapeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first fault, in the order of the shape.
    public var fault: JSONShape.Fault

    /// Creates an error from a fault.
    public init(_ fault: JSONShape.Fault) { self.fault = fault }

    /// The fault in one sentence.
    public var description: String { fault.description }
}
