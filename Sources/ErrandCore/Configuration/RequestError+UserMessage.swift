package import ErrandHTTP

extension RequestError {
    /// Sets the message for users that the configuration has for the error, if any.
    package mutating func setUserMessage(of configuration: Configuration) {
        guard let text = configuration.userMessage?(self) else { return }
        userMessage = text
    }
}
