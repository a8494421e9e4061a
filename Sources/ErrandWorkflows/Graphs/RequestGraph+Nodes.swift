public import Errand
import ErrandCore

extension RequestGraph {
    /// Identifies a graph in its handles, without retaining it.
    nonisolated final class Identity: Sendable {}

    /// A handle of a node, with the type of its value.
    ///
    /// It is valid for the graph that returned it.
    nonisolated public struct Node<Output: Sendable>: Sendable {
        let graph: Identity
        let index: Int

        func input(of other: Identity) -> GraphTopology.Input {
            graph === other ? .node(index) : .foreign
        }
    }

    /// The values of a node's inputs, in order.
    nonisolated struct InputValues: Sendable {
        private let values: [any Sendable]
        private var next = 0

        init(_ values: [any Sendable]) { self.values = values }

        mutating func take<Value>(_ type: Value.Type) throws(RequestError) -> Value {
            defer { next += 1 }
            guard values.indices.contains(next), let value = values[next] as? Value else {
                throw RequestError(
                    .graphFailed, stage: .build,
                    "The node has no input of type \(Value.self) at position \(next).")
            }
            return value
        }
    }

    /// A node, as it was added.
    nonisolated struct Content {
        enum Source {
            case member(RequestUnit)
            case closure(@Sendable (InputValues) async throws -> ClosureTask.Output)
        }

        var definition: GraphTopology.Definition
        /// The number of inputs whose values the closure gets; the other inputs only come before it.
        var valueCount = 0
        /// The kind of the node in printed graphs.
        var label: String
        var source: Source
        /// The value of a member that has succeeded; `nil` if it has none.
        var value: (RequestUnit) -> (any Sendable)? = { _ in nil }

        var member: RequestUnit? {
            if case .member(let member) = source { member } else { nil }
        }
    }

    // MARK: - Members

    /// Adds a member with a typed output: a request, a typed batch or chain, or a graph.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - name: The name of the node, unique in the graph. Default: the type's name, and a number if necessary.
    @discardableResult
    public func add<Member: TypedUnit>(
        _ member: Member, named name: String? = nil
    ) -> Node<Member.Output> {
        append(member, name, Member.self) { ($0 as? Member)?.output }
    }

    /// Adds a member without a typed output; the value of its node is what its `send` returns: a response, or results.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - name: The name of the node, unique in the graph. Default: the type's name, and a number if necessary.
    @discardableResult
    public func add<Member: Startable>(
        _ member: Member, named name: String? = nil
    ) -> Node<Member.SendOutput> {
        append(member, name, Member.self) { try? ($0 as? Member)?.result?.get() }
    }

    // MARK: - Closures

    /// Adds a node whose member is made from the values of its inputs.
    ///
    ///     let orders = graph.add(after: user) { user in GetOrders(of: user.id) }
    ///
    /// If the closure throws, the node fails: with the error, if it is a ``RequestError``, and otherwise with
    /// ``RequestError/Code/graphFailed``.
    ///
    /// - Parameters:
    ///   - inputs: The inputs, all of which succeed before the closure is called.
    ///   - name: The name of the node, unique in the graph. Default: the type's name, and a number if necessary.
    ///   - make: Makes a new member. It runs on no actor, unless it names one.
    @discardableResult
    public func add<each Input, Member: TypedUnit>(
        after inputs: repeat Node<each Input>, named name: String? = nil,
        make: @escaping @isolated(any) @Sendable (repeat each Input) async throws -> sending Member
    ) -> Node<Member.Output> {
        append(repeat each inputs, name: name, make: make) { ($0 as? Member)?.output }
    }

    /// Adds a node whose member, which has no typed output, is made from the values of its inputs.
    ///
    /// The value of the node is what the member's `send` returns.
    @discardableResult
    public func add<each Input, Member: Startable>(
        after inputs: repeat Node<each Input>, named name: String? = nil,
        make: @escaping @isolated(any) @Sendable (repeat each Input) async throws -> sending Member
    ) -> Node<Member.SendOutput> {
        append(repeat each inputs, name: name, make: make) { try? ($0 as? Member)?.result?.get() }
    }

    /// Adds a node that computes its value from those of its inputs, without sending a request of its own.
    ///
    /// - Parameters:
    ///   - inputs: The inputs, all of which succeed before the closure is called.
    ///   - name: The name of the node, unique in the graph. Default: `value`, and a number if necessary.
    ///   - body: Computes the value. It runs on no actor, unless it names one.
    @discardableResult
    public func compute<each Input, Output: Sendable>(
        after inputs: repeat Node<each Input>, named name: String? = nil,
        body: @escaping @isolated(any) @Sendable (repeat each Input) async throws -> Output
    ) -> Node<Output> {
        let (definition, count) = define(repeat each inputs, name: name, kind: "value")
        return append(
            Content(
                definition: definition, valueCount: count, label: "value \(Output.self)",
                source: .closure { values in
                    var values = values
                    let inputs = (repeat try values.take((each Input).self))
                    return .value(try await body(repeat each inputs))
                }))
    }

    // MARK: - Order without values

    /// Lets a node start only after another one has succeeded, without getting its value.
    public func order<First, Second>(_ first: Node<First>, before second: Node<Second>) {
        guard second.graph === identity, contents.indices.contains(second.index) else {
            // Refused at the start, like every input of another graph.
            foreignOrder = true
            return
        }
        contents[second.index].definition.inputs.append(first.input(of: identity))
    }

    /// Lets a node start only after another one has succeeded; both are named, and may be added later.
    public func order(_ first: String, before second: String) {
        namedOrders.append((first, second))
    }

    // MARK: - Appending

    private func append<Output>(_ content: Content) -> Node<Output> {
        contents.append(content)
        return Node(graph: identity, index: contents.count - 1)
    }

    private func append<Output>(
        _ member: RequestUnit, _ name: String?, _ type: Any.Type,
        value: @escaping (RequestUnit) -> (any Sendable)?
    ) -> Node<Output> {
        let kind = "\(type)"
        return append(
            Content(
                definition: GraphTopology.Definition(
                    name: name.map { .chosen($0) } ?? .derived(kind)),
                label: kind, source: .member(member), value: value))
    }

    private func append<each Input, Member: AnyObject, Output>(
        _ inputs: repeat Node<each Input>, name: String?,
        make: @escaping @isolated(any) @Sendable (repeat each Input) async throws -> sending Member,
        value: @escaping (RequestUnit) -> (any Sendable)?
    ) -> Node<Output> {
        let kind = "\(Member.self)"
        let (definition, count) = define(repeat each inputs, name: name, kind: kind)
        return append(
            Content(
                definition: definition, valueCount: count, label: kind,
                source: .closure { values in
                    var values = values
                    let inputs = (repeat try values.take((each Input).self))
                    return .member(ClosureTask.Transfer(try await make(repeat each inputs)))
                }, value: value))
    }

    private func define<each Input>(
        _ inputs: repeat Node<each Input>, name: String?, kind: String
    ) -> (GraphTopology.Definition, Int) {
        var definition = GraphTopology.Definition(name: name.map { .chosen($0) } ?? .derived(kind))
        for input in repeat each inputs { definition.inputs.append(input.input(of: identity)) }
        return (definition, definition.inputs.count)
    }
}
