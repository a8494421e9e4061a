import ErrandTransport

/// Applies the connectivity policy before a request is sent.
enum ConnectivityCheck {
    /// Whether the policy may stop the request.
    static func isEnabled(_ task: RequestTask) -> Bool { policy(task) != .ignore }

    private static func policy(_ task: RequestTask) -> ConnectivityPolicy {
        task.description.sending.connectivity
            ?? task.sharedConfiguration.value.connectivityPolicy
    }

    static func pass(_ pipelineRequest: PipelineRequest) async throws(RequestError) {
        let task = pipelineRequest.task
        let policy = policy(task)
        // A request to this machine needs no network.
        guard policy != .ignore, !LocalPeer.isTarget(of: pipelineRequest.request) else { return }
        guard let reachability = task.configuration.reachability else {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "connectivityPolicy .\(policy) needs configuration.reachability. Set it to "
                    + "SystemReachability() of the module ErrandReachability.")
        }
        // An unknown network state does not stop a request.
        guard reachability.current.isConnected == false else { return }
        guard policy == .waitForConnectivity else {
            throw RequestError(
                .offline, stage: .schedule,
                "There is no network. Try again later, or use .waitForConnectivity.")
        }
        task.emit(.waitingForConnectivity)
        let isConnected = try? await pipelineRequest.scope.run {
            for await status in reachability.changes() where status.isConnected != false {
                return true
            }
            return false
        }
        try pipelineRequest.scope.check()
        if isConnected == true { return }
        throw RequestError(
            .offline, stage: .schedule,
            "There is no network, and configuration.reachability has ended its updates.")
    }
}

/// Decides whether a request stays on this machine and needs no network; pure.
enum LocalPeer {
    static func isTarget(of request: TransportRequest) -> Bool {
        request.options.unixSocketPath != nil || request.host.map(isLoopback) == true
    }

    /// `localhost` and its subdomains (RFC 6761 §6.3), 127/8 and `::1`, also as `::ffff:127.0.0.1`.
    static func isLoopback(_ host: String) -> Bool {
        var name = host.lowercasedASCII()[...]
        if let absolute = name.dropping(suffix: ".") { name = absolute }
        if name == "localhost" || name.ends(withBytes: ".localhost") { return true }
        guard let address = name.dropping(prefix: "[")?.dropping(suffix: "]") else {
            return isIPv4Loopback(name)
        }
        return isIPv6Loopback(address.prefix(upToByte: "%"))
    }

    private static func isIPv4Loopback(_ text: Substring) -> Bool {
        let parts = text.pieces(at: ".", keepingEmpty: true)
        return (2...4).contains(parts.count) && parts[0] == "127"
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    private static func isIPv6Loopback(_ text: Substring) -> Bool {
        var parts = text.pieces(at: ":", keepingEmpty: true)
        guard let last = parts.popLast() else { return false }
        if last.contains(byte: ".") {
            guard isIPv4Loopback(last), parts.popLast() == "ffff" else { return false }
        } else if UInt16(last, radix: 16) != 1 {
            return false
        }
        return parts.allSatisfy { $0.isEmpty || UInt16($0, radix: 16) == 0 }
    }
}
