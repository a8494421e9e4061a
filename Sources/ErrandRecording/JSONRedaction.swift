import ErrandHTTP
import ErrandJSON
import ErrandSystem

/// Replaces the secret values of JSON documents.
///
/// A document without secrets is returned unchanged, with its white space.
struct JSONRedaction {
    private let rules: RedactionRules
    private let paths: [MemberPath]
    /// The texts that contain this one.
    private let level: Int

    init(_ rules: RedactionRules, _ paths: [MemberPath], level: Int = 0) {
        self.rules = rules
        self.paths = paths
        self.level = level
    }

    /// A document; `nil` if it cannot be parsed.
    func document(_ bytes: [UInt8]) -> [UInt8]? {
        var options = JSON.Options()
        if level > 0 { options.maximumDepth = TextRedaction.maximumDepth }
        guard let json = try? JSON(parsing: bytes, options: options) else { return nil }
        var hasChanged = false
        let redacted = value(json, at: paths.map { $0.steps[...] }, &hasChanged)
        return hasChanged ? Array(redacted.description.utf8) : bytes
    }

    private func value(
        _ json: JSON, at paths: [ArraySlice<MemberPath.Step>], _ hasChanged: inout Bool
    ) -> JSON {
        if paths.contains(where: \.isEmpty) {
            hasChanged = true
            return JSON(RedactionRules.placeholder)
        }
        if let members = json.object {
            return JSON(
                members: members.map { name, member in
                    let isVisible = member.isNull || member.string.map(rules.isSubstitution) == true
                    if rules.isSecret(name: name), !isVisible {
                        hasChanged = true
                        return (name, JSON(RedactionRules.placeholder))
                    }
                    return (name, value(member, at: follow(paths, .member(name)), &hasChanged))
                })
        }
        if let elements = json.array {
            let inner = follow(paths, .element)
            return JSON(elements.map { value($0, at: inner, &hasChanged) })
        }
        if let text = json.string {
            let redacted = TextRedaction(rules, level: level).text(text)
            guard !redacted.hasSameBytes(as: text) else { return json }
            hasChanged = true
            return JSON(redacted)
        }
        return json
    }

    private func follow(
        _ paths: [ArraySlice<MemberPath.Step>], _ place: MemberPath.Step
    ) -> [ArraySlice<MemberPath.Step>] {
        paths.compactMap { path in
            guard let step = path.first, step.includes(place) else { return nil }
            return path.dropFirst()
        }
    }
}

/// A path to values in JSON documents, such as `$.items[*].email`.
struct MemberPath: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case member(String), anyMember, element

        func includes(_ place: Step) -> Bool {
            if case .member = place, self == .anyMember { return true }
            return self == place
        }
    }

    let steps: [Step]

    init(_ text: String) throws(RequestError) {
        guard var rest = text.dropping(prefix: "$") else { throw Self.invalid(text) }
        var steps: [Step] = []
        while !rest.isEmpty {
            guard let step = Self.takeStep(&rest) else { throw Self.invalid(text) }
            steps.append(step)
        }
        self.steps = steps
    }

    private static func takeStep(_ rest: inout Substring) -> Step? {
        if let others = rest.dropping(prefix: "[*]") {
            rest = others
            return .element
        }
        if let quoted = rest.dropping(prefix: "['"), let end = quoted.firstRange(ofBytes: "']") {
            defer { rest = rest[end.upperBound...] }
            return .member(String(quoted[..<end.lowerBound]))
        }
        guard let named = rest.dropping(prefix: ".") else { return nil }
        let name = named.prefix(upToByte: ".").prefix(upToByte: "[")
        guard !name.isEmpty else { return nil }
        rest = rest[name.endIndex...]
        return name == "*" ? .anyMember : .member(String(name))
    }

    private static func invalid(_ text: String) -> RequestError {
        RequestError(
            .invalidConfiguration, stage: .build,
            "“\(text)” is not a path to values of JSON. Begin with $, then .name or ['name'] for a member, "
                + "[*] for every element and .* for every member, for example $.items[*].email.")
    }
}
