/// Lets only those answers pass that are what the endpoint asked for.
package struct ValidateStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let response = try await next(exchange)
        do {
            try ResponseValidation.check(response, description: exchange.description)
        } catch {
            exchange.context.emit(.validated(error))
            throw error
        }
        exchange.context.emit(.validated(nil))
        return response
    }
}
