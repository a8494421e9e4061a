/// Where requests stand while there is no network.
enum ConnectivityGate {
    /// Whether a request may be stopped at all.
    static func isClosable(_ context: TaskContext) -> Bool { policy(context) != .ignore }

    private static func policy(_ context: TaskContext) -> ConnectivityPolicy {
        context.description.connectivityPolicy
            ?? context.sharedConfiguration.value.connectivityPolicy
    }

    static func pass(_ exchange: Exchange) async throws(RequestError) {
        let context = exchange.context
        let policy = policy(context)
        guard policy != .ignore else { return }
        guard let reachability = context.configuration.reachability else {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "connectivityPolicy is .\(policy) and configuration.reachability is nil; set one, such as SystemReachability() of ErrandReachability."
            )
        }
        // What is not known may be there: only a sure no stops a request.
        guard reachability.current.isConnected == false else { return }
        guard policy == .waitForConnectivity else {
            throw RequestError(
                .offline, stage: .schedule,
                "There is no network. Try again when there is one, or use .waitForConnectivity.")
        }
        context.emit(.waitingForConnectivity)
        let isConnected = try? await exchange.scope.run {
            for await status in reachability.changes() where status.isConnected != false {
                return true
            }
            return false
        }
        try exchange.scope.check()
        if isConnected == true { return }
        throw RequestError(
            .offline, stage: .schedule, "There is no network, and nobody watches it any more.")
    }
}
