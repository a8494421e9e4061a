import Errand

final class OutputClosure: BaseRequest {}

@MainActor func outputClosure() {
    OutputClosure().start { request, response in print(request, response) }
}

// error: contextual closure type '@MainActor @Sendable (OutputClosure) -> Void' expects 1 argument, but 2 were used in closure body
