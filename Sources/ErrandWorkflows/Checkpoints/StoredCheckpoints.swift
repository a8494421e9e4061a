import Errand
import ErrandCore
import ErrandJSON
import ErrandSystem

/// The checkpoint of one run of a chain: restores the finished steps of an earlier run, and saves those of this one.
///
/// A checkpoint ends with a step whose output is Codable. It is saved after such a step, and contains `nil` for the
/// steps without a Codable output before it.
nonisolated struct StoredCheckpoints: ChainCheckpoints {
    private let store: any CheckpointStore
    private let chain: String
    private let steps: [ChainStep]
    private let coders: [OutputCoder?]
    /// The outputs of the finished steps.
    private var outputs: [Data?] = []
    /// The revision of the stored checkpoint.
    private var revision: UUID?

    init(of chain: String, in store: any CheckpointStore, _ steps: [ChainStep]) {
        self.store = store
        self.chain = chain
        self.steps = steps
        coders = steps.map { OutputCoder.make(for: $0.memberType) }
    }

    private var definition: [String] {
        zip(steps, coders).map { step, coder in
            let type = "\(step.memberType)" + (coder.map { " → \($0.type)" } ?? "")
            return step.name.map { "\($0): \(type)" } ?? type
        }
    }

    // MARK: - Before the run

    /// Restores the outputs of the steps that have finished in an earlier run; returns the number of these steps.
    mutating func restore() async throws(RequestError) -> Int {
        if let index = steps.firstIndex(where: \.readsMember) {
            throw RequestError(
                .invalidCombination, stage: .build,
                "Step \(index + 1) of the chain '\(chain)' was added with then(_:), whose closure gets the member of "
                    + "the step before it, which is not in a checkpoint. Use add(_:) and read the output of that step."
            )
        }
        guard let checkpoint = try await store.checkpoint(of: chain) else { return 0 }
        let definition = definition
        guard checkpoint.definition == definition else {
            let same = zip(definition, checkpoint.definition).prefix { $0 == $1 }.count
            throw refusal(
                .changedDefinition(step: same + 1),
                "was saved by a chain with other steps: step \(same + 1) was "
                    + "\(Self.text(checkpoint.definition, same)), and is \(Self.text(definition, same))"
            )
        }
        guard checkpoint.outputs.count <= steps.count else {
            throw refusal(.unreadableOutput(step: steps.count + 1), "has more outputs than steps")
        }
        for (index, output) in checkpoint.outputs.enumerated() {
            steps[index].isRestored = true
            guard let output else { continue }
            guard let coder = coders[index], let value = try? coder.decode(output) else {
                throw refusal(
                    .unreadableOutput(step: index + 1),
                    "has an output of step \(index + 1) that cannot be decoded as \(coders[index]?.type ?? "a value")"
                )
            }
            steps[index].value = value
        }
        outputs = checkpoint.outputs
        revision = checkpoint.revision
        return outputs.count
    }

    private static func text(_ definition: [String], _ index: Int) -> String {
        definition.indices.contains(index) ? "'\(definition[index])'" : "missing"
    }

    private func refusal(
        _ problem: CheckpointProblem, _ reason: String
    ) -> RequestError {
        RequestError(
            .chainFailed, stage: .build,
            "The checkpoint of the chain '\(chain)' \(reason). Give the new chain another name, or remove the "
                + "checkpoint; the chain then starts with its first step.", underlying: problem)
    }

    // MARK: - During the run

    /// Saves the output of the step that has finished, if it is Codable.
    mutating func save() async throws(RequestError) {
        let index = outputs.count
        var output: Data?
        do {
            output = try coders[index]?.encode(steps[index])
        } catch {
            throw RequestError(
                .chainFailed, stage: .decode,
                "The output of step \(index + 1) of the chain '\(chain)' could not be encoded for the checkpoint; see "
                    + "the underlying error.", underlying: error)
        }
        outputs.append(output)
        guard output != nil else { return }
        let checkpoint = Checkpoint(
            chain: chain, definition: definition, outputs: outputs)
        guard try await store.save(checkpoint, replacing: revision) else {
            throw RequestError(
                .chainFailed, stage: .schedule,
                "Another run of a chain named '\(chain)' has changed the checkpoint. Run chains of one name one after "
                    + "the other, or give each a name of its own.",
                underlying: CheckpointProblem.changedByAnotherRun)
        }
        revision = checkpoint.revision
    }

    /// Removes the checkpoint after the success of the chain.
    func remove() async throws(RequestError) { try await store.removeCheckpoint(of: chain) }
}

/// Encodes and decodes the output of a step.
nonisolated private struct OutputCoder {
    /// The name of the type.
    let type: String
    /// Encodes the output of a finished step; `nil` if it has none.
    let encode: (ChainStep) throws -> Data?
    /// Decodes an output; `nil` for one of another type.
    let decode: (Data) throws -> (any Sendable)?

    /// The coder of the members' output; `nil` if it is not Codable.
    static func make(for member: RequestUnit.Type) -> OutputCoder? {
        guard let typed = member as? any TypedUnit.Type else { return nil }
        return make(typed)
    }

    private static func make<Member: TypedUnit>(
        _ member: Member.Type
    ) -> OutputCoder? {
        guard let output = Member.Output.self as? any Codable.Type else { return nil }
        return make(member, output)
    }

    private static func make<Member: TypedUnit, Value: Codable>(
        _: Member.Type, _: Value.Type
    ) -> OutputCoder {
        OutputCoder(type: "\(Value.self)") { step in
            guard let output = try? ChainRequest.Step<Member>(step).output else { return nil }
            let encoder = JSONEncoder()
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try (output as? Value).map { try encoder.encode($0) }
        } decode: { data in
            var decoder = JSONReader()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try decoder.decode(Value.self, from: data) as? Member.Output
        }
    }
}
