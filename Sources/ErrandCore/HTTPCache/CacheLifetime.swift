package import Foundation
package import HTTPTypes

/// How long an answer stays fresh, and how old it is: RFC 9111 §4.2, pure.
package enum CacheLifetime {
    /// For how many seconds an answer is fresh after it was made.
    ///
    /// In the order of §4.2.1, without `s-maxage`, which is for shared caches: `max-age`, `Expires`, and where
    /// neither says anything the settings' guess.
    ///
    /// - Parameters:
    ///   - receivedAt: When the answer came; stands for a `Date` that is missing or none (RFC 9110 §6.6.1).
    package static func seconds(
        status: Int, headers: HTTPFields, receivedAt: Date, settings: HTTPCacheSettings
    ) -> Double {
        let control = CacheControl(headers)
        switch control.seconds("max-age") {
        case .number(let seconds): return Double(seconds)
        case .invalid: return 0
        case .absent: break
        }
        let date = date(headers, receivedAt: receivedAt)
        if let expires = headers[values: .expires].first {
            // What is no date, such as 0 or nearly one, has passed (§5.3).
            guard HTTPDate.isWellFormed(expires),
                let end = HTTPDate.parse(expires, now: receivedAt, ignoresCase: true)
            else { return 0 }
            return max(0, end.timeIntervalSince(date))
        }
        guard mayGuess(status: status, control) else { return 0 }
        return guess(headers, date: date, settings)
    }

    /// The age of an answer, in seconds (§4.2.3).
    ///
    /// - Parameters:
    ///   - requestedAt: When it was asked for.
    ///   - receivedAt: When it came.
    package static func age(
        headers: HTTPFields, requestedAt: Date, receivedAt: Date, now: Date
    ) -> Double {
        let apparent = max(
            0, receivedAt.timeIntervalSince(date(headers, receivedAt: receivedAt)))
        let delay = max(0, receivedAt.timeIntervalSince(requestedAt))
        // Of a list the first counts, and what is no number is passed over (§5.1).
        let field = headers[values: .age].first.flatMap {
            ListElements($0).first(where: { _ in true })
        }
        let said = Double(field.flatMap { CacheControl.deltaSeconds($0) } ?? 0)
        let resident = now.timeIntervalSince(receivedAt)
        // A clock that was set back proves nothing: such an answer is of no age that could be fresh (row CAC-15).
        guard resident >= 0 else { return .infinity }
        return max(apparent, said + delay) + resident
    }

    /// Statuses that may be kept without a word about it (RFC 9110 §15.1), but for 206, which is not kept here.
    package static let heuristicStatuses: Set<Int> = [
        200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
    ]

    private static func mayGuess(status: Int, _ control: CacheControl) -> Bool {
        heuristicStatuses.contains(status) || control.has("public")
    }

    /// A tenth of the time for which it has not changed (§4.2.2), or what the settings say.
    private static func guess(
        _ headers: HTTPFields, date: Date, _ settings: HTTPCacheSettings
    ) -> Double {
        guard let text = headers[values: .lastModified].first,
            let modified = HTTPDate.parse(text, now: date, ignoresCase: true)
        else { return settings.lifetimeWithoutHeaders.secondsAsDouble }
        let unchanged = max(0, date.timeIntervalSince(modified))
        return min(
            unchanged * settings.heuristicFraction, settings.heuristicLimit.secondsAsDouble)
    }

    private static func date(_ headers: HTTPFields, receivedAt: Date) -> Date {
        headers[values: .date].first.flatMap {
            HTTPDate.parse($0, now: receivedAt, ignoresCase: true)
        } ?? receivedAt
    }
}

extension Duration {
    /// In seconds; never negative.
    fileprivate var secondsAsDouble: Double {
        max(0, Double(components.seconds) + Double(components.attoseconds) * 1e-18)
    }
}
