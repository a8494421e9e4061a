/// Names of metrics: those of the OpenTelemetry conventions for HTTP clients, and Errand's own.
enum MetricName {
    static let requestDuration = "http.client.request.duration"
    static let requestBodySize = "http.client.request.body.size"
    static let responseBodySize = "http.client.response.body.size"
    static let activeRequests = "http.client.active_requests"
    static let openConnections = "http.client.open_connections"

    static let totalDuration = "errand.request.duration"
    static let queueDuration = "errand.queue.duration"
    static let rateLimitDuration = "errand.rate_limit.duration"
    static let retries = "errand.retries"
    static let cacheLookups = "errand.cache.lookups"
    static let cacheStores = "errand.cache.stores"
    static let joins = "errand.requests.joined"
    static let cacheEvictions = "errand.cache.evictions"
    static let closedConnections = "errand.connections.closed"
    static let connections = "errand.connections"
    static let webSocketMessages = "errand.websocket.messages"
    static let webSocketBytes = "errand.websocket.bytes"
    static let webSocketsClosed = "errand.websocket.closed"
    static let circuitState = "errand.circuit.state"
    static let circuitChanges = "errand.circuit.changes"
}
