import Errand
import ErrandCore

extension RequestGraph: CustomStringConvertible {
    /// The nodes in the order in which they were added, one a line, with their kinds and their inputs.
    ///
    ///     user: GetUser
    ///     orders: GetOrders ← user
    ///
    /// It is valid text also for an invalid definition, whose error it contains.
    public var description: String {
        guard let topology = try? topology() else { return invalid }
        return contents.indices.map { index in
            let inputs = topology.inputs[index].map { topology.names[$0] }.joined(separator: ", ")
            return "\(topology.names[index]): \(contents[index].label)"
                + (inputs.isEmpty ? "" : " ← \(inputs)")
        }.joined(separator: "\n")
    }

    /// The graph in the language DOT of Graphviz.
    ///
    /// An edge leads from an input to the node that needs it; it is dashed if the node does not get the value. An
    /// invalid definition is a graph without nodes, whose label is the error.
    public var dot: String {
        guard let topology = try? topology() else {
            return "digraph {\n  label=\(Self.quoted(invalid))\n}"
        }
        var lines = ["digraph {"]
        for index in contents.indices {
            let label = "\(topology.names[index])\n\(contents[index].label)"
            lines.append("  n\(index) [label=\(Self.quoted(label))]")
        }
        for (node, inputs) in topology.inputs.enumerated() {
            for (position, input) in inputs.enumerated() {
                let style = position < contents[node].valueCount ? "" : " [style=dashed]"
                lines.append("  n\(input) -> n\(node)\(style)")
            }
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private var invalid: String {
        do throws(RequestError) {
            try validate()
            return ""
        } catch {
            return error.message
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n", "\r": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }
}
