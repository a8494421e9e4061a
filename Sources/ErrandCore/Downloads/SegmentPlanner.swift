package import ErrandHTTP

/// Divides the missing bytes of a file among parallel requests; a pure state machine for one attempt.
///
/// Bytes are missing, requested by one segment, or written; never two of these. The first request runs alone until its
/// response proves the version of the file and that the server supports ranges.
package struct SegmentPlanner: Sendable {
    /// A range of the file that one request receives.
    package struct Segment: Sendable, Hashable {
        package let id: Int
        package let start: Int64
        /// The first byte that was not received yet.
        package fileprivate(set) var next: Int64
        /// The end of the range, which moves when the range is split or extended; `Int64.max` if it is unknown.
        package fileprivate(set) var end: Int64
        /// The end of the range that was requested.
        fileprivate var requestedEnd: Int64
        /// Whether a response sends part of a file of unknown length, so that more may follow.
        fileprivate var isPartOfUnknown = false

        package var received: Int64 { next - start }
        fileprivate var rest: Range<Int64> { next..<end }
    }

    /// What a worker does next.
    package enum Action: Sendable, Hashable {
        case start(Segment)
        /// Ask again after the next event.
        case wait
        /// The attempt needs this worker no more.
        case done
    }

    /// A reason for the end of a request before the end of its range.
    package enum Failure: Sendable, Hashable {
        /// The server or the network refuses another request: 429, 503, a refused connection.
        case refused
        /// The connection broke.
        case broken
        /// The server ignored `Range`, and sends the same version from its first byte.
        case ignored
    }

    /// The maximum number of parallel requests; refusals reduce it.
    package private(set) var limit: Int
    /// Whether one more request may follow a failure that leaves no other one, because a parallel request has ended
    /// without error: the file may come in one request at a time.
    private var mayTryAlone = false
    private var hasTriedAlone = false
    private let isParallel: Bool
    private let minimumSize: Int64
    private var missing: [Range<Int64>]
    private var active: [Int: Segment] = [:]
    private var nextID = 0
    /// Whether a response has proved the version, so that further requests may start.
    private var isVerified = false
    private var maySplit = false
    private var isStopped = false
    /// The number of pauses that the server has asked for and that have not ended.
    private var pauses = 0

    /// - Parameters:
    ///   - written: The bytes of the file that are present.
    ///   - total: The size of the file; `nil` if it is unknown.
    ///   - limit: The number of parallel requests that the endpoint allows.
    ///   - minimumSize: A range is split only into ranges of at least this size.
    package init(written: ByteRanges, total: Int64?, limit: Int, minimumSize: Int64) {
        self.limit = max(1, limit)
        isParallel = limit > 1
        self.minimumSize = max(1, minimumSize)
        missing = written.gaps(below: total ?? .max)
        // Nothing is missing: a request at the end confirms the version.
        if missing.isEmpty, let total { missing = [total..<total] }
    }

    /// The number of requests that have not ended.
    package var activeCount: Int { active.count }
    /// Whether no byte is missing or requested.
    package var isComplete: Bool { active.isEmpty && missing.isEmpty }

    /// The next range for a worker that has none.
    package mutating func next() -> Action {
        if isStopped || isComplete { return .done }
        guard pauses == 0, active.count < limit, active.isEmpty || isVerified else { return .wait }
        if !missing.isEmpty { return .start(begin(missing.removeFirst())) }
        guard maySplit,
            let longest = active.values.max(by: { one, other in
                (one.end - one.next, other.id) < (other.end - other.next, one.id)
            }),
            longest.end - longest.next >= 2 * minimumSize
        else { return .wait }
        // A slow segment is the longest one when the others have ended.
        let middle = longest.next + (longest.end - longest.next + 1) / 2
        active[longest.id]?.end = middle
        return .start(begin(middle..<longest.end))
    }

    private mutating func begin(_ range: Range<Int64>) -> Segment {
        nextID += 1
        let segment = Segment(
            id: nextID, start: range.lowerBound, next: range.lowerBound, end: range.upperBound,
            requestedEnd: range.upperBound)
        active[nextID] = segment
        return segment
    }

    /// Prevents further requests, because a response sends the whole file in place of the bytes that are present.
    ///
    /// - Returns: False if other requests are active.
    package mutating func claimWhole(_ id: Int) -> Bool {
        guard active.count == 1, active[id] != nil else { return false }
        (isVerified, maySplit) = (false, false)
        return true
    }

    /// A response sends the whole file from its first byte; the only active request.
    ///
    /// - Parameter maySplit: Whether its version can be requested in ranges.
    package mutating func acceptedWhole(_ id: Int, total: Int64?, maySplit: Bool) {
        missing = []
        let end = total ?? .max
        active = [id: Segment(id: id, start: 0, next: 0, end: end, requestedEnd: end)]
        self.maySplit = maySplit && total != nil
        isVerified = self.maySplit
    }

    /// A response sends the range that was requested.
    package mutating func acceptedPart(_ id: Int, total: Int64?, maySplit: Bool) {
        if var segment = active[id], segment.end == .max {
            segment.isPartOfUnknown = total == nil
            (segment.end, segment.requestedEnd) = (total ?? .max, total ?? .max)
            active[id] = segment
        }
        isVerified = true
        self.maySplit = maySplit && total != nil && limit > 1
    }

    /// The number of bytes, of those that have arrived, that belong to the segment.
    ///
    /// They count as received.
    package mutating func admit(_ count: Int, to id: Int) -> Int {
        guard let segment = active[id], !isStopped else { return 0 }
        let admitted = Int(min(Int64(count), segment.end - segment.next))
        active[id]?.next += Int64(admitted)
        return admitted
    }

    /// Whether the segment has all its bytes.
    package func isFull(_ id: Int) -> Bool { active[id].map { $0.next >= $0.end } ?? true }

    /// A segment that has not ended.
    package func segment(_ id: Int) -> Segment? { active[id] }

    /// A request ended without error; a server may send less than the range (RFC 9110 §15.3.7).
    ///
    /// - Returns: False if it has sent nothing of a range that is not empty.
    package mutating func finished(_ id: Int) -> Bool {
        guard let segment = active.removeValue(forKey: id) else { return true }
        mayTryAlone = isParallel && !hasTriedAlone
        guard segment.end != .max || segment.isPartOfUnknown else { return true }
        giveBack(segment.rest)
        return segment.received > 0 || segment.rest.isEmpty
    }

    /// A request ended with an error.
    ///
    /// - Returns: Whether the attempt continues: another request receives the rest of the range.
    package mutating func failed(_ id: Int, _ failure: Failure) -> Bool {
        guard let segment = active.removeValue(forKey: id) else { return true }
        giveBack(segment.rest)
        let mayContinue = limit > 1 && isVerified
        switch failure {
        case .broken where mayContinue && segment.received >= minimumSize: return true
        case .broken, .refused:
            guard isVerified, limit > 1 && !active.isEmpty || mayTryAlone else { return false }
            if active.isEmpty { (mayTryAlone, hasTriedAlone) = (false, true) }
        case .ignored:
            maySplit = false
            guard !active.isEmpty else { return missing.isEmpty }
        }
        limit = max(1, active.count)
        return true
    }

    /// No further request starts.
    package mutating func stop() { isStopped = true }

    /// No request starts until ``endPause()``, because the server has asked for a pause (`Retry-After`).
    package mutating func beginPause() { pauses += 1 }

    /// Ends one pause.
    package mutating func endPause() { pauses -= 1 }

    /// Lets the request before the range continue into it, and into missing bytes after it, as far as it asked for these
    /// bytes; the rest is missing.
    private mutating func giveBack(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        missing = ByteRanges(missing + [range]).ranges
        guard let index = missing.firstIndex(where: { $0.contains(range.lowerBound) }) else {
            return
        }
        let gap = missing[index]
        guard let before = active.values.first(where: { $0.end == gap.lowerBound }) else { return }
        let end = max(before.end, min(before.requestedEnd, gap.upperBound))
        active[before.id]?.end = end
        missing.replaceSubrange(
            index...index, with: end < gap.upperBound ? [end..<gap.upperBound] : [])
    }
}

extension SegmentPlanner.Failure {
    /// The kind of an error after which other requests of the attempt may continue; `nil` if they must not.
    package init?(_ error: RequestError) {
        switch error.code {
        case .unacceptableStatus:
            guard let status = error.response?.statusCode, Self.temporaryStatuses.contains(status)
            else { return nil }
            self = .refused
        case .cannotConnect, .cannotFindHost: self = .refused
        case .timedOut where error.timeout == .total: return nil
        case .timedOut, .connectionLost, .truncatedBody, .transportFailed:
            self = error.isUnprocessed ? .refused : .broken
        default: return nil
        }
    }

    /// Those of ``RetryPolicy/retryableStatusCodes``.
    private static let temporaryStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
}
