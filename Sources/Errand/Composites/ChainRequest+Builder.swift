extension ChainRequest {
    /// Makes the steps of a chain from a list of members and steps.
    @resultBuilder
    nonisolated public enum Builder {
        /// The steps of a part of the list.
        public struct Content {
            let steps: [ChainStep]
        }

        /// The step of a member.
        public static func buildExpression<Member: RequestUnit>(_ member: Member) -> Content {
            buildExpression(Step(member))
        }

        /// A step.
        public static func buildExpression<Member>(_ step: Step<Member>) -> Content {
            Content(steps: [step.record])
        }

        /// All steps of the list.
        public static func buildBlock(_ parts: Content...) -> Content { buildArray(parts) }

        /// The steps of a loop.
        public static func buildArray(_ parts: [Content]) -> Content {
            Content(steps: parts.flatMap(\.steps))
        }

        /// The steps of an `if` without `else`.
        public static func buildOptional(_ part: Content?) -> Content { part ?? Content(steps: []) }

        /// The steps of the first branch.
        public static func buildEither(first part: Content) -> Content { part }

        /// The steps of the second branch.
        public static func buildEither(second part: Content) -> Content { part }
    }

    /// Creates a chain of the listed members and steps, as if each was added with `add`.
    ///
    ///     let user = ChainRequest.Step(GetUser(id: 7))
    ///     let chain = ChainRequest {
    ///         Login(name: "a")
    ///         user
    ///         ChainRequest.Step { GetOrders(of: try user.output.id) }
    ///     }
    nonisolated public convenience init(@Builder steps: () -> Builder.Content) {
        self.init()
        for step in steps().steps { append(step) }
    }
}
