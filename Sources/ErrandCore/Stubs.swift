struct DownloadStep: Step {
    func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        try await next(exchange)
    }
}
