public import Errand
import ErrandCore

extension RequestGraph {
    /// The results of a run, one for each node.
    nonisolated public struct Results: Sendable {
        private let graph: Identity
        /// The names of the nodes, in the order in which they were added.
        public private(set) var names: [String] = []
        var values: [Result<any Sendable, RequestError>] = []

        init(
            _ graph: Identity, names: [String] = [],
            values: [Result<any Sendable, RequestError>] = []
        ) {
            self.graph = graph
            self.names = names
            self.values = values
        }

        /// The result of a node.
        ///
        /// Errors: that of the node; ``RequestError/Code/graphFailed`` for a node that was skipped, was added after the
        /// run, or that belongs to another graph.
        public subscript<Output>(node: Node<Output>) -> Result<Output, RequestError> {
            guard node.graph === graph, values.indices.contains(node.index) else {
                return .failure(
                    RequestError(
                        .graphFailed, stage: .build,
                        "The node did not take part in this run. Use the handles that the graph has returned, after a "
                            + "run."))
            }
            switch values[node.index] {
            case .failure(let error): return .failure(error)
            case .success(let value):
                if let value = value as? Output { return .success(value) }
                return .failure(
                    RequestError(
                        .graphFailed, stage: .decode,
                        "The node '\(names[node.index])' has no \(Output.self)."))
            }
        }

        /// The errors of the nodes that have no value, with the names of the nodes, in order.
        public var failures: [(node: String, error: RequestError)] {
            zip(names, values).compactMap { name, result in
                if case .failure(let error) = result { (name, error) } else { nil }
            }
        }

        /// The names of the nodes that have a value, in order.
        public var succeeded: [String] {
            zip(names, values).compactMap { name, result in
                if case .success = result { name } else { nil }
            }
        }
    }

    /// Why a graph cannot run: the underlying error of ``validate()``.
    nonisolated public enum InvalidDefinition: Error, Sendable, Hashable {
        /// Two nodes have this name.
        case duplicateName(String)
        /// A node needs a node that is not in the graph.
        ///
        /// The name is `nil` for a node of another graph. The path contains the node that needs it, a node that needs
        /// that one, and so on.
        case missingNode(String?, path: [String])
        /// Nodes need each other.
        ///
        /// Each node of the path is an input of the next one; the last is the first.
        case cycle(path: [String])
        /// Two nodes have the same object as their member.
        case sharedMember(String, String)
        /// The policy requires more successes than there are nodes that no other node needs.
        case tooFewFinalNodes(Int, required: Int)
    }
}
