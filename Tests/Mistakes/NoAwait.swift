import Errand

final class NoAwait: JSONRequest<Int> {}

nonisolated func noAwait() async throws -> Int { try NoAwait().value() }

// error: expression is 'async' but is not marked with 'await'
