import ErrandHTTP
import ErrandSystem
import HTTPTypes

/// A rule of the page for transfers whose URL matches a pattern; the page sends it as JSON.
struct TransferRule: Sendable, Equatable, Codable {
    /// What the rule does.
    enum Action: String, Sendable, Codable {
        /// Holds the transfer until the page continues or fails it.
        case pause
        /// Delays the transfer, and limits its speed.
        case throttle
        /// Makes a response without the network.
        case mock
        /// Makes an error, without the network or while the body of the response arrives.
        case fault
    }

    /// The errors that a rule can make.
    enum Fault: String, Sendable, Codable, CaseIterable {
        case timedOut, cannotFindHost, cannotConnect, connectionLost, secureConnectionFailed
        case truncatedBody
    }

    /// A header of a mocked response.
    struct Header: Sendable, Equatable, Codable {
        var name: String
        var value: String
    }

    /// The identifier, which the page chooses.
    var id: String
    /// Whether the rule applies.
    var isEnabled = true
    /// A part of the URL, or a pattern of the whole URL with `*` for any text.
    var pattern: String
    /// The method; `nil` for any.
    var method: String?
    var action: Action
    /// The number of transfers to which the rule applies; `nil` for all.
    var limit: Int?
    /// The delay of ``Action/throttle`` before the transfer, in milliseconds.
    var latency: Int?
    /// The speed of ``Action/throttle``, in bytes for each second.
    var bytesPerSecond: Int?
    /// The status of ``Action/mock``.
    var status: Int?
    /// The headers of ``Action/mock``.
    var headers: [Header]?
    /// The body of ``Action/mock``, as text.
    var body: String?
    /// The error of ``Action/fault``.
    var fault: Fault?
    /// The number of bytes of the body after which ``Action/fault`` ends the transfer; `nil` does not send the request.
    var afterBytes: Int?

    /// A short text for the page.
    var name: String {
        switch action {
        case .pause: "pause \(pattern)"
        case .throttle: "throttle \(pattern)"
        case .mock: "mock \(pattern): \(status ?? 200)"
        case .fault:
            "fault \(pattern): \((fault ?? .connectionLost).rawValue)"
                + (afterBytes.map { " after \($0) bytes" } ?? "")
        }
    }

    /// Whether the rule concerns a request; limits aside.
    func matches(method: String, url: String) -> Bool {
        guard isEnabled, !pattern.isEmpty else { return false }
        if let own = self.method, !own.isEmpty, own.uppercasedASCII() != method.uppercasedASCII() {
            return false
        }
        return Self.matches(pattern, url)
    }

    /// Whether a text contains the pattern, or matches it completely if the pattern has a `*`.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let (pattern, text) = (
            Array(pattern.lowercasedASCII().utf8), Array(text.lowercasedASCII().utf8)
        )
        let star = UInt8(ascii: "*")
        guard pattern.contains(star) else {
            return text.count >= pattern.count
                && (0...(text.count - pattern.count)).contains {
                    text[$0..<($0 + pattern.count)].elementsEqual(pattern)
                }
        }
        // The last star is the only one whose length may have to grow.
        var (p, t) = (0, 0)
        var retry: (p: Int, t: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == star {
                p += 1
                retry = (p, t)
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let last = retry {
                retry = (last.p, last.t + 1)
                (p, t) = (last.p, last.t + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == star }
    }

    /// The problem of the rule, as a sentence; `nil` if it can be used.
    var problem: String? {
        if pattern.isEmpty { return "The pattern is empty. Enter a part of the URL, or * for all." }
        if let limit, limit < 1 { return "The number of transfers is \(limit). Set at least 1." }
        switch action {
        case .pause: return nil
        case .fault:
            guard let afterBytes, afterBytes < 1 else { return nil }
            return
                "The number of bytes is \(afterBytes). Set at least 1, or none for an error without the network."
        case .throttle:
            if let latency, !(0...600_000).contains(latency) {
                return "The delay is \(latency) ms. Set 0 to 600,000."
            }
            if let rate = bytesPerSecond, rate < 1 {
                return "The speed is \(rate) bytes per second. Set at least 1."
            }
            return nil
        case .mock:
            if let status, !(200...599).contains(status) {
                return "The status is \(status). Set 200 to 599."
            }
            for header in headers ?? [] where !header.isValid {
                return "The header \(header.name) has an invalid name or value."
            }
            return bodyProblem
        }
    }
}

extension TransferRule.Header {
    /// Whether the header can be a part of a message.
    var isValid: Bool { HTTPField.Name(name) != nil && HTTPField.isValidValue(value) }
}

extension TransferRule {
    /// The problem of a mocked body that no server can send like this.
    private var bodyProblem: String? {
        let count = body?.utf8.count ?? 0
        if let status, [204, 205, 304].contains(status), count > 0 {
            return
                "A response with the status \(status) has no body. Remove the body, or change the status."
        }
        for header in headers ?? [] {
            switch header.name.lowercasedASCII() {
            case "content-length" where header.value != "\(count)":
                return
                    "Content-Length is \(header.value), but the body has \(count) bytes. Remove the header: it is added."
            case "content-encoding", "transfer-encoding":
                return "The body of a mock is not encoded. Remove the header \(header.name)."
            default: break
            }
        }
        return nil
    }
}

/// The rules in their order, and how often each was applied; pure.
struct TransferRules: Sendable {
    /// What happens to a transfer.
    struct Plan: Sendable, Equatable {
        /// The names of the rules.
        var names: [String] = []
        /// The delay before the transfer.
        var latency: Duration = .zero
        /// The lowest speed, in bytes for each second; `nil` is not limited.
        var bytesPerSecond: Int?
        /// Whether the page continues the transfer.
        var isHeld = false
        /// The rule that makes the response or the error; `nil` leaves them as they are.
        var result: TransferRule?
        /// Whether the transfer does not use the network.
        var isSimulated: Bool {
            result.map { $0.action == .mock || $0.afterBytes == nil } ?? false
        }

        /// The time that a number of bytes takes.
        func time(for bytes: Int64) -> Duration {
            guard let bytesPerSecond, bytes > 0 else { return .zero }
            return .seconds(Double(bytes) / Double(bytesPerSecond))
        }
    }

    private(set) var rules: [TransferRule] = []
    /// How often each rule was applied, by identifier.
    private(set) var uses: [String: Int] = [:]

    /// Whether a rule can apply.
    var isActive: Bool { rules.contains(where: \.isEnabled) }

    /// Replaces the rules; those that did not change keep their counts.
    mutating func replace(_ rules: [TransferRule]) {
        let old = Dictionary(self.rules.map { ($0.id, $0) }) { first, _ in first }
        uses = uses.filter { use in rules.contains { $0.id == use.key && old[use.key] == $0 } }
        self.rules = rules
    }

    /// The plan for a transfer; `nil` if no rule matches.
    ///
    /// Delays add up. The first rule that makes a result is the last one that counts.
    mutating func plan(method: String, url: String) -> Plan? {
        var plan = Plan()
        for rule in rules where rule.matches(method: method, url: url) {
            if let limit = rule.limit, uses[rule.id, default: 0] >= limit { continue }
            uses[rule.id, default: 0] += 1
            plan.names.append(rule.name)
            switch rule.action {
            case .pause: plan.isHeld = true
            case .throttle:
                plan.latency += .milliseconds(rule.latency ?? 0)
                if let rate = rule.bytesPerSecond {
                    plan.bytesPerSecond = min(rate, plan.bytesPerSecond ?? rate)
                }
            case .mock, .fault:
                plan.result = rule
                return plan
            }
        }
        return plan.names.isEmpty ? nil : plan
    }
}
