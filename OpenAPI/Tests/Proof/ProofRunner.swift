public import Errand
import Foundation

/// A schema of a document: its validator, and its output type.
public struct ProofCase: Sendable {
    let name: String
    let shape: JSONShape?
    /// Decodes a value as the output type, and encodes it again; `nil` for bodies of requests.
    let copy: (@Sendable (JSON) throws -> JSON)?

    /// Creates a case.
    public init(
        _ name: String, _ shape: JSONShape?, _ copy: (@Sendable (JSON) throws -> JSON)?
    ) {
        self.name = name
        self.shape = shape
        self.copy = copy
    }

    /// Decodes a value as a response, and encodes it as a request.
    public static func copy<Value: Codable>(_ json: JSON, _ type: Value.Type) throws -> JSON {
        let value = try JSONReader.responseDefault.decode(type, from: json)
        return try JSON(parsing: JSONWriter.requestDefault.encode(value))
    }
}

/// Runs the bodies of a document through validators and output types.
public struct ProofRunner {
    private var cases: [String: ProofCase] = [:]
    private var counts: [String: Int] = [:]
    private var notes: [String] = []

    /// Creates a runner.
    public init(_ cases: [ProofCase]) {
        for item in cases { self.cases[item.name] = item }
    }

    /// Checks all bodies of a file, prints what was found, and returns whether that is enough.
    public mutating func run(_ name: String, _ file: String) throws -> Bool {
        let text = try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
        for line in text.split(separator: "\n") {
            check(try JSON(parsing: String(line)))
        }
        for item in cases.values.sorted(by: { $0.name < $1.name }) where item.shape == nil {
            fail("\(item.name): there is no shape")
        }
        func count(_ key: String) -> Int { counts[key] ?? 0 }
        let violations = count("violation")
        let found = violations - count("missed")
        let share = violations == 0 ? 100 : Double(found) / Double(violations) * 100
        print(
            "\(name): \(cases.count) validators; \(found) of \(violations) violations found "
                + "(\(String(format: "%.1f", share)) percent); \(count("valid")) valid bodies and "
                + "\(count("example")) examples, \(count("refused")) refused; \(count("copied")) decoded and "
                + "encoded, \(count("lost")) changed; \(count("contradicting example")) examples contradict "
                + "their schemas, \(count("undecodable")) of them cannot be decoded")
        for note in notes.prefix(20) { print("  \(note)") }
        return share >= 99 && count("refused") == 0 && count("lost") == 0 && count("failure") == 0
    }

    private mutating func add(_ key: String) { counts[key, default: 0] += 1 }

    private mutating func fail(_ note: String, _ key: String = "failure") {
        add(key)
        notes.append(note)
    }

    private mutating func check(_ line: JSON) {
        let kind = line["kind"].string ?? ""
        let body = line["body"]
        add(kind)
        guard let item = cases[line["schema"].string ?? ""], let shape = item.shape else {
            fail("\(line["schema"]): there is no case")
            return
        }
        let fault = shape.firstFault(in: body)
        switch kind {
        case "violation":
            if fault == nil {
                fail("\(item.name): missed \(line["reason"]): \(body)".cut, "missed")
            }
        case "contradicting example":
            if let copy = item.copy, (try? copy(body)) == nil { add("undecodable") }
        default:
            if let fault { fail("\(item.name): refused: \(fault) in \(body)".cut, "refused") }
            guard let copy = item.copy else { return }
            do {
                let result = try copy(body)
                add("copied")
                if let difference = Self.difference(body, result, "$") {
                    fail("\(item.name): \(difference)".cut, "lost")
                }
            } catch {
                fail("\(item.name): not decoded: \(error) in \(body)".cut, "lost")
            }
        }
    }

    /// Where a copy differs from a value; null members and forms of dates and numbers do not count.
    private static func difference(_ value: JSON, _ copy: JSON, _ path: String) -> String? {
        if value == copy { return nil }
        if let members = value.object, copy.kind == .object {
            for (key, member) in members where !member.isNull {
                guard copy[key].exists else { return "\(path).\(key) is lost" }
                if let found = difference(member, copy[key], "\(path).\(key)") { return found }
            }
            return nil
        }
        if let items = value.array, let others = copy.array, items.count == others.count {
            for (position, pair) in zip(items, others).enumerated() {
                if let found = difference(pair.0, pair.1, "\(path)[\(position)]") { return found }
            }
            return nil
        }
        if let one = value.double, let other = copy.double, one == other { return nil }
        if let one = value.string, let other = copy.string {
            if one.lowercased() == other.lowercased() { return nil }
            if let date = date(one), date == self.date(other) { return nil }
        }
        return "\(path) is \(copy), not \(value)"
    }

    private static func date(_ text: String) -> Date? {
        try? JSONReader.responseDefault.decode(Date.self, from: JSON(text))
    }
}

extension String {
    fileprivate var cut: String { count > 400 ? prefix(400) + "…" : self }
}
