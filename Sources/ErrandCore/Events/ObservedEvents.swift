package import ErrandHTTP
import Synchronization

/// What the events of an observed request have in common, so that each event costs little.
package final class ObservedEvents: Sendable {
    package let origin: Shared<RequestEvent.Origin>
    /// The last URL of an event, and its text.
    private let url = Mutex<(url: HTTPURL, text: String)?>(nil)

    package init(_ origin: RequestEvent.Origin) { self.origin = Shared(origin) }

    /// The text of a URL, which is made once for several events.
    package func text(of new: HTTPURL) -> String {
        url.withLock { url in
            if let url, url.url.identity == new.identity { return url.text }
            let text = new.redacted
            url = (new, text)
            return text
        }
    }
}
