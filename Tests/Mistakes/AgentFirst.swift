import Errand

final class AgentFirst: JSONRequest<Int> {}

nonisolated func agentFirst(_ agent: RequestAgent) async throws -> Int {
    try await agent.value(AgentFirst())
}

// error: value of type 'RequestAgent' has no member 'value'
