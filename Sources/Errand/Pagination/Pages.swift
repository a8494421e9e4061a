public import ErrandCore
import ErrandHTTP
import Synchronization

/// The pages of a list, requested one after another while they are iterated.
nonisolated struct Pages<Output: Sendable>: AsyncSequence {
    typealias Element = Output
    typealias Failure = RequestError
    typealias Run =
        nonisolated(nonsending) (Pagination.Next) async throws(RequestError) -> (
            Response, Output, requested: HTTPURL
        )

    let pagination: Pagination
    let limit: Int?
    let run: Run

    func makeAsyncIterator() -> Iterator {
        Iterator(pagination: pagination, limit: limit, run: run)
    }

    /// Requests one page after another.
    struct Iterator: AsyncIteratorProtocol {
        let pagination: Pagination
        let limit: Int?
        let run: Run
        private var number = 0
        private var received = 0
        private var next: Pagination.Next?
        private var seen: Set<Target> = []

        /// Identifies a page that was requested, so that a repetition is recognized.
        private enum Target: Hashable {
            case arguments(Arguments)
            case url(HTTPURL)
        }

        init(pagination: Pagination, limit: Int?, run: @escaping Run) {
            self.pagination = pagination
            self.limit = limit
            self.run = run
            next = .arguments(pagination.first)
        }

        mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(RequestError) -> Output? {
            guard let request = next else { return nil }
            // The sequence ends after an error.
            next = nil
            guard number < limit ?? .max else { return nil }
            let (response, output, requested) = try await run(request)
            number += 1
            next = try following(response, requested)
            return output
        }

        /// The request after a response, with an absolute URL.
        ///
        /// - Parameter requested: The URL of the request before redirects.
        private mutating func following(
            _ response: Response, _ requested: HTTPURL
        ) throws(RequestError) -> Pagination.Next? {
            guard number < limit ?? .max else { return nil }
            do {
                guard let next = try pagination.next(response, number, &received) else {
                    return nil
                }
                switch next {
                case .arguments(let arguments):
                    try remember(.arguments(arguments), response)
                    return next
                case .url(let text):
                    let url = try HTTPURL.resolve(text, against: response.url)
                    // A redirect may have led to another origin, without credentials.
                    guard url.hasOrigin(of: requested) else {
                        throw RequestError(
                            .unsafeRedirect, stage: .process,
                            "The next page has another origin, \(url.origin), which must not receive the "
                                + "credentials of this request. Use a Pagination that returns URLs of "
                                + "\(requested.origin).",
                            response: response)
                    }
                    try remember(.url(url), response)
                    return .url(url.string)
                }
            } catch let error as RequestError {
                throw error
            } catch {
                throw RequestError(
                    .processingFailed, stage: .process,
                    "The pagination threw \(type(of: error)); see the underlying error.",
                    response: response, underlying: error)
            }
        }

        /// Fails if the same page was requested before: the pages would never end.
        private mutating func remember(
            _ target: Target, _ response: Response
        ) throws(RequestError) {
            guard !seen.insert(target).inserted else { return }
            throw RequestError(
                .badServerResponse, stage: .process,
                "Page \(number) names a page that was already requested as the next one. Set a limit for the number "
                    + "of pages, or use another Pagination.",
                response: response)
        }
    }
}

/// The items of the pages of a list, in order.
nonisolated struct Items<Output: Sendable, Part: Sequence>: AsyncSequence {
    typealias Element = Part.Element
    typealias Failure = RequestError

    let pages: Pages<Output>
    let part: (Output) -> Part

    func makeAsyncIterator() -> Iterator {
        Iterator(pages: pages.makeAsyncIterator(), part: part)
    }

    /// Reads the items of one page after another.
    struct Iterator: AsyncIteratorProtocol {
        var pages: Pages<Output>.Iterator
        let part: (Output) -> Part
        private var current: Part.Iterator?

        init(pages: Pages<Output>.Iterator, part: @escaping (Output) -> Part) {
            self.pages = pages
            self.part = part
        }

        mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(RequestError) -> Part.Element? {
            while true {
                if let item = current?.next() { return item }
                guard let page = try await pages.next(isolation: actor) else { return nil }
                current = part(page).makeIterator()
            }
        }
    }
}

extension TypedRequest {
    /// The pages of a list: the output of the endpoint for each.
    ///
    ///     for try await issues in ListIssues(repository: "errand").pages(.link) { show(issues) }
    ///
    /// A page is requested when the loop asks for it, so leaving the loop ends the requests. Each page is a run of the
    /// endpoint object: hooks, cache, retries and validation apply to it, ``BaseRequest/response`` is that of the page, and
    /// its errors end the sequence. Cancelling the calling Swift task cancels the request in progress. Iterate a sequence
    /// once, on the actor of the endpoint.
    ///
    /// - Parameters:
    ///   - pagination: The rule for the request of the next page. Default: the `Link` field of the response.
    ///   - limit: The maximum number of pages. Default `nil`: all.
    ///   - agent: The agent that performs the requests. Default `nil`: that of the endpoint.
    nonisolated public func pages(
        _ pagination: Pagination = .link, limit: Int? = nil, on agent: RequestAgent? = nil
    ) -> some AsyncSequence<Output, RequestError> {
        allPages(pagination, limit, agent)
    }

    /// The items of all pages, for endpoints whose output contains them.
    ///
    ///     for try await issue in ListIssues().items(of: \.issues) { show(issue) }
    ///
    /// Otherwise like ``pages(_:limit:on:)``.
    ///
    /// - Parameters:
    ///   - pagination: The rule for the request of the next page. Default: the `Link` field of the response.
    ///   - limit: The maximum number of pages. Default `nil`: all.
    ///   - agent: The agent that performs the requests. Default `nil`: that of the endpoint.
    ///   - part: The items of an output.
    nonisolated public func items<Part: Sequence>(
        _ pagination: Pagination = .link, limit: Int? = nil, on agent: RequestAgent? = nil,
        of part: @escaping (Output) -> Part
    ) -> some AsyncSequence<Part.Element, RequestError> {
        Items(pages: allPages(pagination, limit, agent), part: part)
    }

    nonisolated private func allPages(
        _ pagination: Pagination, _ limit: Int?, _ agent: RequestAgent?
    ) -> Pages<Output> {
        Pages(pagination: pagination, limit: limit) { next async throws(RequestError) in
            let (outcome, requested) = try await self.runPage(next, on: agent)
            let response = try outcome.result.get()
            return (
                response, try outcome.output(as: Output.self).get(), requested ?? response.url
            )
        }
    }
}

extension TypedRequest where Output: Sequence {
    /// The items of all pages, for endpoints whose output is a sequence.
    ///
    ///     for try await issue in ListIssues(repository: "errand").items() { show(issue) }
    ///
    /// Otherwise like ``TypedRequest/pages(_:limit:on:)``.
    ///
    /// - Parameters:
    ///   - pagination: The rule for the request of the next page. Default: the `Link` field of the response.
    ///   - limit: The maximum number of pages. Default `nil`: all.
    ///   - agent: The agent that performs the requests. Default `nil`: that of the endpoint.
    nonisolated public func items(
        _ pagination: Pagination = .link, limit: Int? = nil, on agent: RequestAgent? = nil
    ) -> some AsyncSequence<Output.Element, RequestError> {
        items(pagination, limit: limit, on: agent) { $0 }
    }
}

extension BaseRequest {
    /// The pages of a list as responses, for endpoints without an output.
    ///
    /// Otherwise like ``TypedRequest/pages(_:limit:on:)``.
    ///
    /// - Parameters:
    ///   - pagination: The rule for the request of the next page. Default: the `Link` field of the response.
    ///   - limit: The maximum number of pages. Default `nil`: all.
    ///   - agent: The agent that performs the requests. Default `nil`: that of the endpoint.
    nonisolated public func responsePages(
        _ pagination: Pagination = .link, limit: Int? = nil, on agent: RequestAgent? = nil
    ) -> some AsyncSequence<Response, RequestError> {
        Pages(pagination: pagination, limit: limit) { next async throws(RequestError) in
            let (outcome, requested) = try await self.runPage(next, on: agent)
            let response = try outcome.result.get()
            return (response, response, requested ?? response.url)
        }
    }
}

extension BaseRequest {
    /// Runs the request for one page; returns also its URL before redirects.
    nonisolated(nonsending) fileprivate func runPage(
        _ next: Pagination.Next, on named: RequestAgent?
    ) async throws(RequestError) -> (TaskOutcome, requested: HTTPURL?) {
        let requested = RequestedURL()
        let run = enlist(on: named) { description, configuration in
            description.turn(to: next, encoding: configuration.argumentEncoding)
            description.onAdapted = { requested.set($0) }
        }
        await run.agent.perform(run.task)
        return (end(run), requested.url)
    }
}

/// The URL of a request, which is known when it has been built.
nonisolated private final class RequestedURL: Sendable {
    private let state = Mutex<HTTPURL?>(nil)

    var url: HTTPURL? { state.withLock { $0 } }

    func set(_ url: HTTPURL) { state.withLock { $0 = url } }
}

extension RequestDescription {
    /// Changes the description of the first page into that of another page.
    nonisolated fileprivate mutating func turn(
        to next: Pagination.Next, encoding: ArgumentEncoding
    ) {
        switch next {
        case .arguments(let new):
            guard !new.isEmpty else { return }
            guard customRequest == nil else {
                mistake = RequestError(
                    .invalidCombination, stage: .build,
                    "\(endpoint) has a custom request, to which the arguments of a page cannot be added. "
                        + "Override url and arguments instead, or use Pagination.link.")
                return
            }
            arguments = arguments?.merging(new) ?? new
            // Otherwise all pages have the key of the first one.
            if let own = cache.arguments { cache.arguments = own.merging(new) }
        case .url(let text):
            guard customRequest == nil else {
                customRequest?.url = EndpointURL(raw: text)
                return
            }
            url = EndpointURL(raw: text)
            let isInQuery = method == .get || method == .head || method == .delete
            if argumentPlacement == .query || argumentPlacement == .automatic && isInQuery {
                arguments = nil
            }
            self.encoding = self.encoding ?? encoding
            self.encoding?.duplicateNames = .keepFirst
        }
    }
}
