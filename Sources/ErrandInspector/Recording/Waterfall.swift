import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandTransport

/// A part of the bar of a request: a phase with its start and end in milliseconds after the start of the request.
struct WaterfallPhase: Sendable, Equatable, Encodable {
    /// The kinds of phases.
    enum Kind: String, Sendable, Encodable {
        case queue, limit, offline, shared, delay, credentials, rule, suspended
        case blocked, dns, connect, tls, wait, receive, transfer, cache, unknown
    }

    var kind: Kind
    var start: Double
    /// The end; `nil` while the phase lasts.
    var end: Double?
    /// The attempt, for phases of a transfer.
    var attempt: Int?

    init(_ kind: Kind, _ start: Double, _ end: Double?, attempt: Int? = nil) {
        (self.kind, self.start, self.end, self.attempt) = (kind, start, end, attempt)
    }

    /// An array, which is shorter than an object.
    func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(kind)
        try values.encode((start * 1000).rounded() / 1000)
        try values.encode(end.map { ($0 * 1000).rounded() / 1000 })
        try values.encode(attempt)
    }
}

extension InspectedRequest {
    /// The phases of the request, by their start.
    var waterfall: [WaterfallPhase] {
        (waits + transfers.flatMap(phases)).sorted { $0.start < $1.start }
    }

    private func milliseconds(_ time: Duration) -> Double {
        max(0, (time - start) / .milliseconds(1))
    }

    /// The times without a transfer of a request without events, whose reasons are not known.
    private var gaps: [WaterfallPhase] {
        if case .hit = cache, transfers.isEmpty {
            return [WaterfallPhase(.cache, 0, end.map { milliseconds($0) })]
        }
        var phases: [WaterfallPhase] = []
        var last: Duration? = start
        func add(until time: Duration?) {
            guard let begin = last else { return }
            if let time, time - begin < .milliseconds(1) { return }
            phases.append(
                WaterfallPhase(.unknown, milliseconds(begin), time.map { milliseconds($0) }))
        }
        for transfer in transfers {
            add(until: transfer.start)
            last = transfer.end
        }
        if transfers.isEmpty || end == nil { add(until: end) }
        return phases
    }

    /// The phases in which the request waits for something else than a transfer.
    private var waits: [WaterfallPhase] {
        guard observesEvents else { return gaps }
        var phases: [WaterfallPhase] = []
        var open: (kind: WaterfallPhase.Kind, start: Duration)?
        func close(_ time: Duration?) {
            guard let wait = open else { return }
            phases.append(
                WaterfallPhase(
                    wait.kind, milliseconds(wait.start), time.map { milliseconds($0) }))
            open = nil
        }
        for event in events {
            // These accompany a wait and do not end it.
            if case .storeProblem = event.kind { continue }
            close(event.time)
            switch event.kind {
            case .queued: open = (.queue, event.time)
            case .rateLimited: open = (.limit, event.time)
            case .waitingForConnectivity: open = (.offline, event.time)
            case .joined: open = (.shared, event.time)
            case .retrying: open = (.delay, event.time)
            case .credentialsRefused: open = (.credentials, event.time)
            case .suspended: open = (.suspended, event.time)
            case .cacheHit:
                phases.append(
                    WaterfallPhase(
                        .cache, milliseconds(activityOrigin(of: event)), milliseconds(event.time)))
            default: break
            }
        }
        close(end)
        return phases
    }

    /// The time of the event before a cache hit, from which on the store was read.
    private func activityOrigin(of hit: InspectedEvent) -> Duration {
        events.last { $0.time < hit.time }?.time ?? start
    }

    /// The phases of a transfer, from its timings or, while it runs, as one phase.
    private func phases(of transfer: InspectedTransfer) -> [WaterfallPhase] {
        let attempt = transfer.attempt
        var phases = transfer.delays.map {
            WaterfallPhase(
                .rule, milliseconds($0.start), $0.end.map { milliseconds($0) }, attempt: attempt)
        }
        // The transport measures from its own start, after the delays of rules.
        let delayed = transfer.delays.first.flatMap {
            $0.start <= transfer.start + .milliseconds(1) ? $0.end : nil
        }
        let origin = milliseconds(max(transfer.start, delayed ?? .zero))
        guard let end = transfer.end else {
            if transfer.delays.last.map({ $0.end != nil }) ?? true {
                phases.append(WaterfallPhase(.transfer, origin, nil, attempt: attempt))
            }
            return phases
        }
        guard !transfer.isSimulated else {
            if milliseconds(end) > origin {
                phases.append(WaterfallPhase(.receive, origin, milliseconds(end), attempt: attempt))
            }
            return phases
        }
        let timings = transfer.messages.end.timings
        var last = origin
        func add(_ kind: WaterfallPhase.Kind, until time: Duration?) {
            guard let time else { return }
            let end = origin + time / .milliseconds(1)
            guard end > last else { return }
            phases.append(WaterfallPhase(kind, last, end, attempt: attempt))
            last = end
        }
        let isNew = timings.reusedConnection != true
        add(.blocked, until: timings.queued)
        if isNew {
            add(.dns, until: timings.nameLookedUp)
            add(.connect, until: timings.connected)
            add(.tls, until: timings.secured)
        }
        add(.wait, until: timings.firstByte)
        add(timings.firstByte == nil ? .wait : .receive, until: timings.finished)
        if last == origin {
            phases.append(WaterfallPhase(.transfer, origin, milliseconds(end), attempt: attempt))
        }
        return phases
    }
}
