import ErrandHTTP

extension KindForm {
    /// The members of a kind.
    init(_ kind: RequestEvent.Kind) {
        self =
            Self.ofTask(kind) ?? Self.ofCache(kind) ?? Self.ofWait(kind) ?? Self.ofTransfer(kind)
            ?? Self.ofWebSocket(kind) ?? Self.ofAttempt(kind)
    }

    private init(_ type: String, _ change: (inout KindForm) -> Void) {
        self.init(type)
        change(&self)
    }

    private static func ofTask(_ kind: RequestEvent.Kind) -> KindForm? {
        switch kind {
        case .started: KindForm("started")
        case .adapted(let method, let url):
            KindForm("adapted") { ($0.method, $0.url) = (method.rawValue, url.string) }
        case .joined: KindForm("joined")
        case .suspended: KindForm("suspended")
        case .continued: KindForm("continued")
        case .cancelled: KindForm("cancelled")
        case .resumed(let offset): KindForm("resumed") { $0.bytes = offset }
        case .validated(let error): KindForm("validated") { $0.error = error }
        case .ended(let error): KindForm("ended") { $0.error = error }
        case .unknown(let name): KindForm(name)
        default: nil
        }
    }

    private static func ofCache(_ kind: RequestEvent.Kind) -> KindForm? {
        switch kind {
        case .cacheHit(let age, let source):
            KindForm("cacheHit") {
                ($0.duration, $0.source) = (age.wholeNanoseconds, source.rawValue)
            }
        case .cacheMiss(let reason): KindForm("cacheMiss") { $0.reason = reason.rawValue }
        case .storedResponseKept(let error):
            KindForm("storedResponseKept") { $0.error = error }
        case .cacheStored(let bytes): KindForm("cacheStored") { $0.bytes = Int64(bytes) }
        case .cacheWriteFailed(let error): KindForm("cacheWriteFailed") { $0.error = error }
        case .cacheNotStored(let reason):
            KindForm("cacheNotStored") { $0.reason = reason.rawValue }
        case .cacheEvicted(let entries): KindForm("cacheEvicted") { $0.entries = entries }
        case .storeProblem(let error): KindForm("storeProblem") { $0.error = error }
        default: nil
        }
    }

    private static func ofWait(_ kind: RequestEvent.Kind) -> KindForm? {
        switch kind {
        case .waitingForConnectivity: KindForm("waitingForConnectivity")
        case .queued: KindForm("queued")
        case .dequeued(let time): KindForm("dequeued") { $0.duration = time.wholeNanoseconds }
        case .rateLimited(let time):
            KindForm("rateLimited") { $0.duration = time.wholeNanoseconds }
        case .circuitChanged(let host, let state):
            KindForm("circuitChanged") { ($0.host, $0.state) = (host, state.rawValue) }
        case .credentialsRefused(let host): KindForm("credentialsRefused") { $0.host = host }
        case .credentialsRenewed: KindForm("credentialsRenewed")
        case .credentialsNotRenewed(let error):
            KindForm("credentialsNotRenewed") { $0.error = error }
        case .publicSuffixesIncomplete: KindForm("publicSuffixesIncomplete")
        default: nil
        }
    }

    private static func ofTransfer(_ kind: RequestEvent.Kind) -> KindForm? {
        switch kind {
        case .transferStarted(let attempt, let url):
            KindForm("transferStarted") { ($0.attempt, $0.url) = (attempt, url.string) }
        case .connectionOpened(let attempt, let connection):
            KindForm("connectionOpened") { ($0.attempt, $0.connection) = (attempt, connection) }
        case .connectionReused(let attempt, let connection):
            KindForm("connectionReused") { ($0.attempt, $0.connection) = (attempt, connection) }
        case .chunkSent(let attempt, let bytes):
            KindForm("chunkSent") { ($0.attempt, $0.bytes) = (attempt, bytes) }
        case .chunkReceived(let attempt, let bytes):
            KindForm("chunkReceived") { ($0.attempt, $0.bytes) = (attempt, bytes) }
        case .progress(let progress): KindForm("progress") { $0.progress = Progress(progress) }
        case .requestBodySent(let attempt, let bytes):
            KindForm("requestBodySent") { ($0.attempt, $0.bytes) = (attempt, bytes) }
        case .bodyReceived(let attempt, let bytes):
            KindForm("bodyReceived") { ($0.attempt, $0.bytes) = (attempt, bytes) }
        case .informational(let attempt, let status):
            KindForm("informational") { ($0.attempt, $0.status) = (attempt, status.code) }
        case .headReceived(let attempt, let status):
            KindForm("headReceived") { ($0.attempt, $0.status) = (attempt, status.code) }
        case .phase(let attempt, let phase, let time):
            KindForm("phase") {
                ($0.attempt, $0.phase) = (attempt, phase.rawValue)
                $0.duration = time.wholeNanoseconds
            }
        case .transferEnded(let attempt, let timings, let error):
            KindForm("transferEnded") {
                ($0.attempt, $0.timings, $0.error) = (attempt, timings, error)
            }
        case .pinMismatch(let mismatch): KindForm("pinMismatch") { $0.mismatch = mismatch }
        default: nil
        }
    }

    private static func ofWebSocket(_ kind: RequestEvent.Kind) -> KindForm? {
        guard case .webSocket(let event) = kind else { return nil }
        return KindForm("webSocket") { form in
            switch event {
            case .opened(let subprotocol, let extensions):
                (form.event, form.subprotocol) = ("opened", subprotocol)
                form.extensions = extensions
            case .message(let message):
                (form.event, form.count) = ("message", message.count)
                (form.direction, form.isText) = (message.direction.rawValue, message.isText)
                (form.bytes, form.bytesOnWire) = (message.bytes, message.bytesOnWire)
            case .roundTrip(let time):
                (form.event, form.duration) = ("roundTrip", time.wholeNanoseconds)
            case .closed(let close): (form.event, form.close) = ("closed", close)
            }
        }
    }

    private static func ofAttempt(_ kind: RequestEvent.Kind) -> KindForm {
        switch kind {
        case .attemptStarted(let attempt): KindForm("attemptStarted") { $0.attempt = attempt }
        case .attemptEnded(let attempt, let timings, let error):
            KindForm("attemptEnded") {
                ($0.attempt, $0.timings, $0.error) = (attempt, timings, error)
            }
        case .redirected(let url, let status):
            KindForm("redirected") { ($0.url, $0.status) = (url.string, status.code) }
        case .retrying(let time, let error):
            KindForm("retrying") { ($0.duration, $0.error) = (time.wholeNanoseconds, error) }
        case .retryBudgetSpent: KindForm("retryBudgetSpent")
        case .retryDeclined(let reason):
            KindForm("retryDeclined") { $0.reason = reason.rawValue }
        // A kind that is not written here would be lost; `RequestEventCodingTests` finds it.
        default: KindForm("\(kind)")
        }
    }
}
