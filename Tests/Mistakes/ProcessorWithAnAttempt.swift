import Errand

nonisolated func configureProcessors(_ configuration: inout Configuration) {
    configuration.responseProcessors.append { response, attempt in }
}

// error: contextual closure type 'nonisolated(nonsending) @Sendable (inout Response) async throws -> Void' expects 1 argument, but 2 were used in closure body
