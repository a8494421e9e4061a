import ErrandCore

/// A step of a chain and its state in the last run.
///
/// The chain owns its steps; a step holds the chain weakly.
nonisolated package final class ChainStep {
    /// What takes the place of a failed member.
    enum Substitute {
        case member(RequestUnit)
        case value(any Sendable)
    }

    package let name: String?
    /// The type of the member.
    package let memberType: RequestUnit.Type
    /// Whether its closure gets the member of an earlier step.
    package let readsMember: Bool
    weak var chain: ChainRequest?
    var isAdded = false
    /// The steps that are added to the chain together with this one, after it.
    var following: [ChainStep] = []

    /// Makes the member; `nil` ends the chain successfully.
    var make: () async throws -> RequestUnit?
    /// Whether the step runs; `nil` for always.
    var condition: (() async throws -> Bool)?
    /// The type that a replacement by the chain must have.
    var requirement: (isMet: (RequestUnit) -> Bool, name: String)?
    /// Called after the success of the member or of its replacement.
    var succeeded: ((RequestUnit) -> Void)?
    /// Decides about a failure; `nil` leaves it to the chain.
    var recover: ((RequestError) async throws -> Substitute?)?

    /// The member of the last run; `nil` if the step was not reached or was skipped.
    var member: RequestUnit?
    /// The value that took the place of the output, or the output of a restored step.
    package var value: (any Sendable)?
    /// Whether the step finished in an earlier run, and is not run in this one.
    package var isRestored = false

    init<Member: RequestUnit>(
        name: String?, readsMember: Bool = false, make: @escaping () async throws -> Member?
    ) {
        self.name = name
        self.readsMember = readsMember
        memberType = Member.self
        self.make = make
    }

    /// Forgets the last run.
    func reset() {
        member = nil
        value = nil
        isRestored = false
    }

    /// Releases the closures, which may refer to earlier steps.
    ///
    /// Steps that refer to each other are thus not released by a recursion as deep as the chain is long.
    func clear() {
        make = { nil }
        condition = nil
        succeeded = nil
        recover = nil
    }
}
