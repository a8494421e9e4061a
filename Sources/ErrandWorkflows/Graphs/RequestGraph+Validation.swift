public import Errand
import ErrandCore

extension RequestGraph {
    /// Checks the definition: unique names, inputs that are in the graph, no cycles, and a policy that can be met.
    ///
    /// Every start does the same before anything is sent. The check takes time in proportion to the number of nodes and
    /// inputs.
    ///
    /// - Throws: ``RequestError/Code/invalidConfiguration`` with the path of the cycle or of the missing node; its
    ///   underlying error is an ``InvalidDefinition``. The same code, without one, for a ``maxConcurrent`` or a
    ///   ``BatchRequest/Policy/quorum(_:)`` below 1.
    public func validate() throws(RequestError) { _ = try topology() }

    /// The valid topology of the nodes that have been added so far.
    func topology() throws(RequestError) -> GraphTopology {
        if let fault = BatchState.fault(policy, maxConcurrent: maxConcurrent, in: "graph") {
            throw fault
        }
        do throws(InvalidDefinition) {
            return try checkedTopology()
        } catch {
            throw RequestError(
                .invalidConfiguration, stage: .build, error.message, underlying: error)
        }
    }

    private func checkedTopology() throws(InvalidDefinition) -> GraphTopology {
        if foreignOrder { throw .missingNode(nil, path: []) }
        var definitions = contents.map(\.definition)
        if !namedOrders.isEmpty {
            let indices = try GraphNodeName.resolve(definitions.map(\.name)).indices
            for (first, second) in namedOrders {
                guard let index = indices[second] else { throw .missingNode(second, path: []) }
                definitions[index].inputs.append(.named(first))
            }
        }
        let topology = try GraphTopology(definitions)
        try checkMembers(topology)
        if let required = BatchState.needed(by: policy), required > topology.finalCount {
            throw .tooFewFinalNodes(topology.finalCount, required: required)
        }
        return topology
    }

    private func checkMembers(_ topology: GraphTopology) throws(InvalidDefinition) {
        var nodes: [ObjectIdentifier: Int] = [:]
        for (index, content) in contents.enumerated() {
            guard let member = content.member else { continue }
            if let other = nodes.updateValue(index, forKey: ObjectIdentifier(member)) {
                throw .sharedMember(topology.names[other], topology.names[index])
            }
        }
    }
}

extension RequestGraph.InvalidDefinition {
    var message: String {
        switch self {
        case .duplicateName(let name):
            "The graph has two nodes named '\(name)'. Give each node a name of its own."
        case .missingNode(let name?, let path):
            "The graph has no node named '\(name)'"
                + (path.isEmpty ? "" : ", which is needed by \(Self.text(path, " ← "))")
                + ". Add the node, or correct the name."
        case .missingNode(nil, let path):
            "The graph uses a node of another graph"
                + (path.isEmpty ? "" : ", which is needed by \(Self.text(path, " ← "))")
                + ". Use only nodes that this graph has returned."
        case .cycle(let path):
            "The graph has a cycle: \(Self.text(path, " → ")). Remove one of these inputs."
        case .sharedMember(let first, let second):
            "The nodes '\(first)' and '\(second)' have the same object. Create one object for each node."
        case .tooFewFinalNodes(let count, let required):
            "The graph requires \(required) successes, but only \(count) of its nodes are not needed by another "
                + "node. Require fewer."
        }
    }

    /// The names of a path; the middle of a long path is left out.
    private static func text(_ path: [String], _ arrow: String) -> String {
        guard path.count > 20 else { return path.joined(separator: arrow) }
        let parts = path.prefix(10) + ["… \(path.count - 20) more nodes …"] + path.suffix(10)
        return parts.joined(separator: arrow)
    }
}
