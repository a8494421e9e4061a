import Foundation
import TestSupport
import Testing

@testable import Errand
@testable import ErrandWorkflows

/// The validation of a graph's definition.
struct GraphTopologyTests {
    private typealias Definition = GraphTopology.Definition

    private func defect(_ definitions: [GraphTopology.Definition]) -> RequestGraph
        .InvalidDefinition?
    {
        do throws(RequestGraph.InvalidDefinition) {
            _ = try GraphTopology(definitions)
            return nil
        } catch {
            return error
        }
    }

    private func node(_ name: String, _ inputs: GraphTopology.Input...) -> GraphTopology.Definition
    {
        Definition(name: .chosen(name), inputs: inputs)
    }

    @Test func inputsAreFoundByIndexAndByName() throws {
        let graph = try GraphTopology([
            node("a", .named("c")), node("b", .node(0), .node(2), .node(0)), node("c"),
        ])
        #expect(graph.names == ["a", "b", "c"])
        #expect(graph.inputs == [[2], [0, 2, 0], []])
        #expect(graph.dependants == [[1, 1], [], [0, 1]])
        #expect(graph.order == [2, 0, 1])
    }

    @Test func emptyGraphIsValid() throws {
        #expect(try GraphTopology([]).order.isEmpty)
    }

    @Test func namesAreMadeUnique() throws {
        let names: [GraphNodeName] = [
            .derived("A"), .derived("B"), .derived("A"), .chosen("A 2"), .derived("A"),
            .derived("A 2"),
        ]
        let graph = try GraphTopology(names.map { Definition(name: $0) })
        #expect(graph.names == ["A", "B", "A 3", "A 2", "A 4", "A 2 2"])
    }

    @Test func nameChosenTwiceIsRefused() {
        #expect(defect([node("a"), node("b"), node("a")]) == .duplicateName("a"))
    }

    @Test func missingNodeIsRefusedWithThePathToIt() {
        let first = defect([
            node("page", .named("orders")), node("orders", .named("usr")), node("user"),
        ])
        #expect(first == .missingNode("usr", path: ["orders", "page"]))
        #expect(
            defect([node("a"), node("b", .node(0), .foreign)]) == .missingNode(nil, path: ["b"]))
        // The path ends in a cycle, too.
        let second = defect([node("a", .named("b"), .named("x")), node("b", .named("a"))])
        #expect(second == .missingNode("x", path: ["a", "b"]))
    }

    @Test func nodeThatRequiresItselfIsRefused() {
        #expect(defect([node("a"), node("b", .named("b"))]) == .cycle(path: ["b", "b"]))
    }

    @Test func cycleIsRefusedWithItsPath() {
        // x → a → b → c → a, and d after c.
        let found = defect([
            node("d", .named("c")), node("x"), node("a", .named("x"), .named("c")),
            node("b", .named("a")), node("c", .named("b")),
        ])
        #expect(found == .cycle(path: ["c", "a", "b", "c"]))
    }

    @Test func randomGraphsAreCheckedAsByANaiveSearch() {
        let seed = UInt64.random(in: 0...(.max))
        var random = SeededGenerator(seed: seed)
        var cycles = 0
        for _ in 0..<3000 {
            let count = Int.random(in: 1...7, using: &random)
            let edges = Int.random(in: 0...(2 * count), using: &random)
            var inputs: [[Int]] = Array(repeating: [], count: count)
            for _ in 0..<edges {
                inputs[Int.random(in: 0..<count, using: &random)]
                    .append(Int.random(in: 0..<count, using: &random))
            }
            let definitions = inputs.indices.map { index in
                Definition(
                    name: .chosen("\(index)"),
                    inputs: inputs[index].map {
                        Bool.random(using: &random) ? .node($0) : .named("\($0)")
                    })
            }
            do throws(RequestGraph.InvalidDefinition) {
                let graph = try GraphTopology(definitions)
                #expect(!Self.hasCycle(inputs), "seed \(seed): \(inputs)")
                #expect(graph.order.sorted() == Array(0..<count), "seed \(seed): \(inputs)")
                for (position, node) in graph.order.enumerated() {
                    let earlier = Set(graph.order[..<position])
                    #expect(earlier.isSuperset(of: inputs[node]), "seed \(seed): \(inputs)")
                }
            } catch {
                cycles += 1
                guard case .cycle(let path) = error else {
                    Issue.record("seed \(seed): \(error)")
                    continue
                }
                let nodes = path.compactMap { Int($0) }
                #expect(nodes.count >= 2 && nodes.first == nodes.last, "seed \(seed): \(path)")
                #expect(Set(nodes).count == nodes.count - 1, "seed \(seed): \(path)")
                for (input, node) in zip(nodes, nodes.dropFirst()) {
                    #expect(inputs[node].contains(input), "seed \(seed): \(inputs) \(path)")
                }
            }
        }
        #expect(cycles > 300 && cycles < 2700, "seed \(seed)")
    }

    private static func hasCycle(_ inputs: [[Int]]) -> Bool {
        inputs.indices.contains { start in
            var reached: Set<Int> = []
            var open = inputs[start]
            while let node = open.popLast() {
                if node == start { return true }
                if reached.insert(node).inserted { open += inputs[node] }
            }
            return false
        }
    }

    /// The cost is counted, not timed: each node and each input is visited a fixed number of times.
    @Test(arguments: [10_000, 20_000])
    func validationVisitsEachNodeAndInputTwice(count: Int) throws {
        let dense = (0..<count).map { index in
            Definition(
                name: .chosen("\(index)"),
                inputs: (1...5).compactMap { index >= $0 ? .node(index - $0) : nil })
        }
        let graph = try GraphTopology(dense)
        let inputs = graph.inputs.reduce(0) { $0 + $1.count }
        #expect(inputs == 5 * count - 15 && graph.visits == 2 * (count + inputs))
        #expect(graph.finalCount == 1)
    }

    @Test func largeGraphsAreValidatedWithoutRecursion() throws {
        let count = 200_000
        let line = (0..<count).map { index in
            Definition(name: .derived("Get"), inputs: index == 0 ? [] : [.node(index - 1)])
        }
        #expect(try GraphTopology(line).order == Array(0..<count))
        var ring = line
        ring[0].inputs = [.node(count - 1)]
        guard case .cycle(let path) = defect(ring) else {
            Issue.record("no cycle")
            return
        }
        #expect(path.count == count + 1)
    }
}
