package import ErrandHTTP

/// A path to the elements of an array in a JSON document, such as `$.items[*]`.
///
/// It is a subset of JSONPath (RFC 9535): `$`, names of members as `.name`, `['name']` or
/// `["name"]`, and `[*]` at the end.
package struct JSONElementPath: Sendable, Hashable, CustomStringConvertible {
    /// The names of the members that lead to the array.
    package let names: [String]

    /// The path in the form of error messages.
    package var description: String { place(of: names.count) + "[*]" }

    /// Creates the path of the members that lead to an array.
    package init(names: [String]) { self.names = names }

    /// Parses a path.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` for a path outside the subset.
    package init(_ text: String) throws(RequestError) {
        do throws(Refusal) {
            var parser = Parser(rest: text.unicodeScalars[...])
            names = try parser.names()
        } catch {
            throw RequestError(
                .unsupported, stage: .build,
                "The path \(text.debugDescription) of a streamed JSON array is not supported: "
                    + "\(error.reason). Supported are names of members that are followed by [*], "
                    + "such as $[*], $.items[*] and $.a['b c'][*].")
        }
    }

    /// The path of the first `count` members, for error messages.
    func place(of count: Int) -> String {
        names.prefix(count).reduce("$") { $0 + CodingPath.step($1) }
    }
}

extension JSONElementPath {
    private struct Refusal: Error {
        let reason: String
    }

    private struct Parser {
        var rest: Substring.UnicodeScalarView

        mutating func names() throws(Refusal) -> [String] {
            guard take("$") else { throw Refusal(reason: "it does not begin with $") }
            var names: [String] = []
            while !take("[*]") {
                if take("['") {
                    names.append(try quoted("'"))
                } else if take("[\"") {
                    names.append(try quoted("\""))
                } else if take(".") {
                    names.append(try plain())
                } else if rest.isEmpty {
                    throw Refusal(reason: "it does not end with [*]")
                    // text of the author: scalars
                } else if rest.first == "[" {
                    throw Refusal(reason: "brackets can contain a quoted name or * only")
                } else {
                    throw Refusal(reason: "it continues with \(String(rest).debugDescription)")
                }
            }
            guard rest.isEmpty else { throw Refusal(reason: "[*] must be its end") }
            return names
        }

        private mutating func take(_ text: String) -> Bool {
            guard rest.starts(with: text.unicodeScalars) else { return false }
            rest = rest.dropFirst(text.unicodeScalars.count)
            return true
        }

        /// A name in the shorthand of RFC 9535 §2.5.1.1.
        private mutating func plain() throws(Refusal) -> String {
            let name = rest.prefix { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_": true
                default: !scalar.isASCII
                }
            }
            guard let first = name.first, !("0"..."9").contains(first) else {
                throw Refusal(
                    // text of the author: scalars
                    reason: rest.first == "." || rest.first == "*"
                        ? ".. and .* select more than one member"
                        : "a name after . must begin with a letter or _; quote others as ['name']")
            }
            rest = rest[name.endIndex...]
            // text of the author: scalars
            guard rest.isEmpty || rest.first == "." || rest.first == "[" else {
                throw Refusal(
                    reason: "a name after . contains letters, digits and _ only; quote others as "
                        + "['name']")
            }
            return String(name)
        }

        /// The rest of a quoted name and its bracket.
        private mutating func quoted(_ quote: Unicode.Scalar) throws(Refusal) -> String {
            var name = String.UnicodeScalarView()
            while let scalar = rest.popFirst() {
                switch scalar {
                case quote:
                    guard take("]") else { throw Refusal(reason: "a bracket contains one name") }
                    return String(name)
                case "\\":
                    guard let next = rest.popFirst(), next == "\\" || next == quote else {
                        throw Refusal(
                            reason: "a backslash in a name can precede a quote or backslash only")
                    }
                    name.append(next)
                default: name.append(scalar)
                }
            }
            throw Refusal(reason: "a quoted name has no end")
        }
    }
}
