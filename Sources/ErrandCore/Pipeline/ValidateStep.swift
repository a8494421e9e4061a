/// Lets only those answers pass that are what the endpoint asked for.
package struct ValidateStep: Step {
    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        let response = try await next(exchange)
        // The stored answer that it confirms is judged by who has it.
        if response.status == 304, exchange.isRevalidation { return response }
        try Self.judge(response, exchange.context)
        return response
    }

    // Apart from `run`, which is suspended and keeps room for whatever it names.
    @inline(never)
    private static func judge(
        _ response: Response, _ context: TaskContext
    ) throws(RequestError) {
        do throws(RequestError) {
            try ResponseValidation.check(response, description: context.description)
        } catch {
            context.emit(.validated(error))
            throw error
        }
        context.emit(.validated(nil))
    }
}
