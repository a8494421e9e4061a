import Errand

final class StartInNonisolated: BaseRequest {}

nonisolated func startInNonisolated() {
    StartInNonisolated().start { _ in }
}

// error: call to main actor-isolated instance method 'start(on:owner:success:)' in a synchronous nonisolated context [#ActorIsolatedCall]
