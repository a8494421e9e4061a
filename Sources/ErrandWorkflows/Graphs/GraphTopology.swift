import Errand

/// The nodes of a graph and their inputs: valid by construction, without requests and closures.
///
/// Validation and all members cost O(nodes + inputs) and do not recurse.
nonisolated struct GraphTopology: Sendable {
    /// An input of a node, as the graph's definition names it.
    enum Input: Sendable, Hashable {
        case node(Int)
        case named(String)
        /// A node of another graph.
        case foreign
    }

    /// A node, as the graph's definition describes it.
    struct Definition: Sendable {
        var name: GraphNodeName
        var inputs: [Input] = []
    }

    /// The names of the nodes, each of which is unique.
    let names: [String]
    /// The inputs of each node, in the order of its definition.
    let inputs: [[Int]]
    /// The nodes that have this node as an input, in their order; a node that has it twice is contained twice.
    let dependants: [[Int]]
    /// All nodes, each after its inputs.
    let order: [Int]
    /// The number of nodes that are not an input of another node.
    let finalCount: Int
    /// The number of nodes and inputs that the validation has visited, which is the measure of its cost.
    let visits: Int

    init(_ definitions: [Definition]) throws(RequestGraph.InvalidDefinition) {
        let indices: [String: Int]
        (names, indices) = try GraphNodeName.resolve(definitions.map(\.name))
        var inputs: [[Int]] = []
        inputs.reserveCapacity(definitions.count)
        var missing: (node: Int, input: String?)?
        for (node, definition) in definitions.enumerated() {
            var found: [Int] = []
            found.reserveCapacity(definition.inputs.count)
            for input in definition.inputs {
                switch input {
                case .node(let index): found.append(index)
                case .foreign: missing = missing ?? (node, nil)
                case .named(let name):
                    if let index = indices[name] {
                        found.append(index)
                    } else {
                        missing = missing ?? (node, name)
                    }
                }
            }
            inputs.append(found)
        }
        self.inputs = inputs
        dependants = Self.reversed(inputs)
        finalCount = dependants.count { $0.isEmpty }
        if let (node, input) = missing {
            let path = Self.path(from: node, through: dependants)
            throw .missingNode(input, path: path.map { [names] in names[$0] })
        }
        var visits = inputs.reduce(inputs.count) { $0 + $1.count }
        order = Self.order(of: inputs, dependants, &visits)
        self.visits = visits
        if order.count < inputs.count {
            let path = Self.cycle(among: inputs, without: order)
            throw .cycle(path: path.map { [names] in names[$0] })
        }
    }

    private static func reversed(_ inputs: [[Int]]) -> [[Int]] {
        var result: [[Int]] = Array(repeating: [], count: inputs.count)
        for (node, inputs) in inputs.enumerated() {
            for input in inputs { result[input].append(node) }
        }
        return result
    }

    /// A node, one of its dependants, one of the dependants of that, and so on, each node once.
    private static func path(from start: Int, through dependants: [[Int]]) -> [Int] {
        var path = [start]
        var isVisited = Array(repeating: false, count: dependants.count)
        isVisited[start] = true
        while let next = path.last.flatMap({ dependants[$0].first }), !isVisited[next] {
            isVisited[next] = true
            path.append(next)
        }
        return path
    }

    /// The nodes in an order in which each follows its inputs; those in and after a cycle are missing.
    private static func order(
        of inputs: [[Int]], _ dependants: [[Int]], _ visits: inout Int
    ) -> [Int] {
        var remaining = inputs.map(\.count)
        var order = inputs.indices.filter { remaining[$0] == 0 }
        order.reserveCapacity(inputs.count)
        var next = 0
        while next < order.count {
            visits += 1
            for dependant in dependants[order[next]] {
                visits += 1
                remaining[dependant] -= 1
                if remaining[dependant] == 0 { order.append(dependant) }
            }
            next += 1
        }
        return order
    }

    /// A cycle among the nodes that have no place in the order.
    private static func cycle(among inputs: [[Int]], without order: [Int]) -> [Int] {
        var isOrdered = Array(repeating: false, count: inputs.count)
        for node in order { isOrdered[node] = true }
        guard var node = inputs.indices.first(where: { !isOrdered[$0] }) else { return [] }
        // Each such node has at least one input that has no place either, so this walk meets a node twice.
        var positions = Array(repeating: -1, count: inputs.count)
        var walk: [Int] = []
        while positions[node] < 0, let input = inputs[node].first(where: { !isOrdered[$0] }) {
            positions[node] = walk.count
            walk.append(node)
            node = input
        }
        // The walk goes from a node to its input; the path goes in the order of execution.
        return [node] + walk[max(positions[node], 0)...].reversed()
    }
}

/// The name of a graph's node: chosen by the caller, or derived from the node's content.
nonisolated enum GraphNodeName: Sendable, Hashable {
    case chosen(String)
    /// Made unique by a number if necessary.
    case derived(String)

    /// The unique names of the nodes, and the nodes by their names.
    static func resolve(
        _ names: [GraphNodeName]
    ) throws(RequestGraph.InvalidDefinition) -> (names: [String], indices: [String: Int]) {
        var indices: [String: Int] = [:]
        indices.reserveCapacity(names.count)
        for (node, name) in names.enumerated() {
            guard case .chosen(let text) = name else { continue }
            guard indices.updateValue(node, forKey: text) == nil else { throw .duplicateName(text) }
        }
        var counts: [String: Int] = [:]
        var result: [String] = []
        result.reserveCapacity(names.count)
        for (node, name) in names.enumerated() {
            switch name {
            case .chosen(let text): result.append(text)
            case .derived(let base):
                var text: String
                repeat {
                    let count = counts[base, default: 0] + 1
                    counts[base] = count
                    text = count == 1 ? base : "\(base) \(count)"
                } while indices[text] != nil
                indices[text] = node
                result.append(text)
            }
        }
        return (result, indices)
    }
}
