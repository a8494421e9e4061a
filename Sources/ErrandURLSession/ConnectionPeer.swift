import ErrandTransport
import Foundation

/// A host and port that a request may connect to: the origin, or a proxy from the environment.
struct ConnectionPeer: Sendable, Hashable {
    let host: String
    let port: Int

    /// The origin and, if the environment has one, the proxy.
    ///
    /// `no_proxy` is not evaluated, so both are included.
    static func all(
        of url: HTTPURL,
        environment: (String) -> String? = { ProcessInfo.processInfo.environment[$0] }
    ) -> [ConnectionPeer] {
        let names = url.isHTTPS ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let proxy = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap(environment)
            .first { !$0.isEmpty }
        return [ConnectionPeer(host: url.host ?? "", port: url.effectivePort)]
            + [proxy.flatMap(self.proxy)].compactMap { $0 }
    }

    /// Parses a proxy like libcurl: without a scheme it is `http`, and the default port of `http` is 1080.
    private static func proxy(_ text: String) -> ConnectionPeer? {
        guard
            let url = try? HTTPURL(parsing: text.contains(bytes: "://") ? text : "http://" + text),
            let host = url.host
        else { return nil }
        return ConnectionPeer(host: host, port: url.port ?? (url.isHTTPS ? 443 : 1080))
    }
}
