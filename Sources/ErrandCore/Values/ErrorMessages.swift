/// Texts for the people who use the app, in place of those for its developers (row ERR-6).
///
///     configuration.errorMessages = ErrorMessages(
///         general: "Something went wrong. Please try again.",
///         [.offline: "There is no network.", .duplicate: "Not so fast, please."])
///
/// They are what `error.localizedDescription` says; `error.description` stays as it is, for logs.
public struct ErrorMessages: Sendable {
    /// The text of every failure that has none of its own; `nil` leaves the description.
    public var general: String?
    /// Texts by what went wrong.
    public var texts: [RequestError.Code: String]
    /// Whether code and, where there was an answer, status are appended in parentheses (default false).
    public var showsCode: Bool
    /// Asked first, for texts that depend on more than the code; `nil` leaves it to the others.
    public var custom: (@Sendable (RequestError) -> String?)?

    /// Makes a catalogue.
    public init(
        general: String? = nil, _ texts: [RequestError.Code: String] = [:], showsCode: Bool = false,
        custom: (@Sendable (RequestError) -> String?)? = nil
    ) {
        self.general = general
        self.texts = texts
        self.showsCode = showsCode
        self.custom = custom
    }

    /// The text for an error; `nil` when the catalogue has none.
    public func text(for error: RequestError) -> String? {
        if let text = custom?(error) { return text }
        guard let text = texts[error.code] ?? general else { return nil }
        guard showsCode else { return text }
        let status = error.status.map { " \($0.code)" } ?? ""
        return "\(text) (\(error.code)\(status))"
    }

    func added(to error: RequestError) -> RequestError {
        guard let text = text(for: error) else { return error }
        var error = error
        error.userMessage = text
        return error
    }
}
