public import ErrandHTTP

/// Error messages for the users of an app, in place of the messages for developers.
///
///     configuration.errorMessages = ErrorMessages(
///         general: "Something went wrong. Please try again.",
///         [.offline: "There is no network.", .duplicate: "Please wait."])
///
/// They become `error.localizedDescription`; `error.description` is unchanged, for logs.
public struct ErrorMessages: Sendable {
    /// The message for errors without one of their own; `nil` keeps the description.
    public var general: String?
    /// The messages by error code.
    public var texts: [RequestError.Code: String]
    /// Whether the code and the response status, if any, are appended in parentheses (default false).
    public var showsCode: Bool
    /// A closure that is called first, for messages that depend on more than the code (default none).
    ///
    /// If it returns `nil`, ``texts`` and then ``general`` apply.
    public var custom: (@Sendable (RequestError) -> String?)?

    /// Creates a set of messages.
    public init(
        general: String? = nil, _ texts: [RequestError.Code: String] = [:], showsCode: Bool = false,
        custom: (@Sendable (RequestError) -> String?)? = nil
    ) {
        self.general = general
        self.texts = texts
        self.showsCode = showsCode
        self.custom = custom
    }

    /// The message for an error; `nil` if there is none.
    public func text(for error: RequestError) -> String? {
        if let text = custom?(error) { return text }
        guard let text = texts[error.code] ?? general else { return nil }
        guard showsCode else { return text }
        let status = error.status.map { " \($0.code)" } ?? ""
        return "\(text) (\(error.code)\(status))"
    }

    package func applied(to error: RequestError) -> RequestError {
        guard let text = text(for: error) else { return error }
        var error = error
        error.userMessage = text
        return error
    }
}
