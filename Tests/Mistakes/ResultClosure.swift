import Errand

final class ResultClosure: JSONRequest<Int> {}

@MainActor func resultClosure() {
    ResultClosure().start { request, result in
        switch result {
        case .success(let value): print(request, value)
        case .failure(let error): print(error)
        }
    }
}

// error: 'start(on:owner:success:)' is unavailable: start has a closure for each end: start { request, output in … } failure: { request, error in … }.
