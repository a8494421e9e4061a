import ErrandTransport

/// The rules for requests whose body is read while it arrives; pure functions.
enum StreamRules {
    /// Whether the body of a response is streamed: the endpoint accepts it, and no step needs its body or follows it
    /// with another request.
    static func accepts(_ head: ResponseHead, _ description: RequestDescription) -> Bool {
        // A connection that is taken over has no body.
        guard description.upgrade == nil else { return false }
        let status = head.status.code
        return !(300..<400).contains(status) && status != 401
            && description.acceptsStatus(status)
            && ResponseValidation.acceptsContentType(of: head, description: description)
    }

    /// Refuses settings that need the complete body.
    static func check(
        _ description: RequestDescription, _ configuration: Configuration
    ) throws(RequestError) {
        if let refusal = description.refusalOfTwoResponses(
            configuration.cachePolicy, part: "streamed")
        {
            throw refusal
        }
        guard let setting = setting(thatNeedsBody: description, configuration) else { return }
        throw RequestError(
            .invalidCombination, stage: .build,
            "\(description.endpoint) is streamed, but \(setting)")
    }

    private static func setting(
        thatNeedsBody description: RequestDescription, _ configuration: Configuration
    ) -> String? {
        if description.isDownload {
            return "it is a download, whose body is written to a file. Use send()."
        }
        if description.sending.duplicates == .join {
            return
                "its sending.duplicates is .join: a body that is not kept cannot be shared. Use .allow, .reject, "
                + ".queue or .cancelPrevious."
        }
        if !configuration.responseProcessors.isEmpty {
            return
                "configuration.responseProcessors need the complete body. Use an agent without them for "
                + "streams, or send()."
        }
        let settings: [(name: String, isSet: Bool)] = [
            ("validator", description.validator != nil),
            ("acceptance.rules", !description.acceptance.rules.isEmpty),
            ("responseProcessors setting", !description.responseProcessors.isEmpty),
            (
                "json.removesNulls",
                description.json.removesNulls ?? configuration.json.removesNulls ?? false
            ),
            ("acceptance.format with a closure", description.acceptance.format.hasClosure),
        ]
        return settings.first(where: \.isSet).map {
            "its \($0.name) needs the complete body. Remove it from streamed endpoints, or use send()."
        }
    }
}
