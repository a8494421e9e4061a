import Errand
import ErrandTesting
import TestSupport
import Testing

/// Hooks of a request that `start` starts run without the caller's task-local values.
@Suite(.limited) struct TaskLocalTests {
    @TaskLocal static var value = "default"

    struct ValueReader: Sendable {
        let values: AsyncStream<String>.Continuation
        func process(
            _ request: inout TransportRequest, of description: RequestDescription, attempt: Int
        ) async throws {
            values.yield(TaskLocalTests.value)
        }
    }

    @Test(arguments: [TaskPriority.low, .medium, .high])
    func hooksDoNotInheritTaskLocalValues(priority: TaskPriority) async throws {
        let (values, continuation) = AsyncStream.makeStream(of: String.self)
        let fixture = AgentFixture {
            $0.requestProcessors = [ValueReader(values: continuation).process]
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        await Task(priority: priority) {
            await Self.$value.withValue("caller") {
                let task = fixture.agent.start(RequestDescription(endpoint: "X", url: "x"))
                await task.untilEnded()
            }
        }.value
        continuation.finish()
        #expect(await values.reduce(into: []) { $0.append($1) } == ["default"])
    }
}
