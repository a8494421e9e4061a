import Foundation

/// The content codings that a request accepts (RFC 9110 §12.5.3).
struct AcceptedCodings {
    private var weights: [Substring: Double] = [:]

    /// Parses the value of Accept-Encoding; `nil` accepts every coding.
    init(_ value: String?) {
        for element in (value ?? "*").lowercased().split(separator: ",") {
            let parts = element.split(separator: ";").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard let coding = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            // A weight that is not a number is ignored, as servers do.
            weights[Self.name(coding[...])] = weight.flatMap { Double($0) } ?? 1
        }
    }

    /// Whether the coding, in lower case, is accepted; `*` stands for all codings that are not listed.
    func contains(_ coding: String) -> Bool {
        (weights[Self.name(coding[...])] ?? weights["*"] ?? 0) > 0
    }

    /// The name without the prefix of the aliases `x-gzip` and `x-compress` (RFC 9110 §8.4.1).
    private static func name(_ coding: Substring) -> Substring {
        coding == "x-gzip" || coding == "x-compress" ? coding.dropFirst(2) : coding
    }
}
