import ErrandCore
import Foundation

/// To whom a request's connection may go: the host of its URL, or a proxy that the environment names.
struct ConnectionPeer: Sendable, Hashable {
    let host: String
    let port: Int

    /// Both, since exceptions in the environment say which of them it is.
    static func all(
        of url: URI, environment: (String) -> String? = { ProcessInfo.processInfo.environment[$0] }
    ) -> [ConnectionPeer] {
        let names = url.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let proxy = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap(environment)
            .first { !$0.isEmpty }
        return [ConnectionPeer(host: url.host ?? "", port: url.effectivePort)]
            + [proxy.flatMap(self.proxy)].compactMap { $0 }
    }

    /// libcurl takes one without a scheme for an http one, and 1080 for its port.
    private static func proxy(_ text: String) -> ConnectionPeer? {
        guard let url = try? URI(parsing: text.contains("://") ? text : "http://" + text),
            let host = url.host
        else { return nil }
        return ConnectionPeer(host: host, port: url.port ?? (url.scheme == "https" ? 443 : 1080))
    }
}
