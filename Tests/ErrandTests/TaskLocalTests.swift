import Errand
import ErrandTesting
import Testing

/// Hooks of what `start` starts run without the caller's task-local values, whatever the caller's priority.
@Suite(.timeLimit(.minutes(2))) struct TaskLocalTests {
    @TaskLocal static var word = "nothing"

    struct Listening: RequestProcessor {
        let words: AsyncStream<String>.Continuation
        func process(
            _ request: inout TransportRequest, of description: RequestDescription
        ) async throws {
            words.yield(TaskLocalTests.word)
        }
    }

    @Test(arguments: [TaskPriority.low, .medium, .high])
    func hooksSeeNoneOfTheCallers(priority: TaskPriority) async throws {
        let (words, continuation) = AsyncStream.makeStream(of: String.self)
        let world = World { $0.requestProcessors = [Listening(words: continuation)] }
        world.transport.on(.get, "/x", .json("{}"))
        await Task(priority: priority) {
            await Self.$word.withValue("the caller's") {
                let task = world.agent.start(RequestDescription(endpoint: "X", url: "x"))
                await task.untilEnded()
            }
        }.value
        continuation.finish()
        #expect(await words.reduce(into: []) { $0.append($1) } == ["nothing"])
    }
}
