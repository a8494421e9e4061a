import ErrandHTTP
package import HTTPTypes

/// The start of a download's next request.
package enum DownloadStart: Sendable, Hashable {
    /// At the first byte.
    case fresh
    /// At this byte, if the validator still matches.
    case resume(offset: Int64, validator: String, total: Int64?)

    /// The number of bytes that are not requested again.
    package var offset: Int64 {
        if case .resume(let offset, _, _) = self { offset } else { 0 }
    }
}

/// Further rules for the response to a range request.
package struct RangeRules: Sendable, Hashable {
    /// The number of bytes before the offset that were requested again, because the validator is weak.
    package var overlap: Int64 = 0
    /// Whether the response must repeat validator and total length, because its URL is another one.
    package var isOtherURL = false

    /// Whether only the total length is compared.
    package var hasNoValidator = false

    package init(overlap: Int64 = 0, isOtherURL: Bool = false, hasNoValidator: Bool = false) {
        self.overlap = overlap
        self.isOtherURL = isOtherURL
        self.hasNoValidator = hasNoValidator
    }

    /// Whether the response must have the validator; otherwise it must not contradict it.
    var requiresValidator: Bool { overlap > 0 || isOtherURL || hasNoValidator }
}

/// The action for a response, decided by its head.
package enum DownloadResponseAction: Sendable, Hashable {
    /// The whole file: write from the first byte; without a validator it cannot be resumed later.
    case write(total: Int64?, validator: String?)
    /// The rest of the file, or a part of the rest: append it to the part file.
    case append(at: Int64, total: Int64?)
    /// Nothing is left: the part file is the whole file.
    case settle(total: Int64)
    /// The whole file in place of a range, while other requests receive the same version: they continue.
    case ignore
    /// The part file is unusable: request the whole file.
    case restart
    /// An error response: its body does not belong into the file.
    case reject
    /// A response that HTTP does not allow here.
    case refuse(String)
}

/// The decisions of a download, as pure functions.
package enum DownloadPlanner {
    /// Decides whether a part file is resumed, and at which offset.
    ///
    /// - Parameters:
    ///   - partSize: The size of the part file; `nil` if there is none.
    ///   - session: The current boot session.
    ///   - plan: The rules for other URLs and weak validators.
    ///   - isOpen: Whether this process has written the part file since it opened it.
    package static func start(
        allowsResume: Bool, url: String, journal: DownloadJournal?, partSize: Int64?,
        session: String?, plan: DownloadPlan,
        isOpen: Bool = false
    ) -> DownloadStart {
        guard allowsResume, let journal, let partSize,
            plan.resumableURL.accepts(url, for: journal.url),
            !journal.isWeak || plan.weakValidatorOverlap > 0 || journal.validator.isEmpty,
            !journal.validator.isEmpty || plan.resumesWithoutValidator
        else { return .fresh }
        // The file was changed by another program: its content cannot be trusted.
        guard partSize >= journal.offset, partSize <= journal.total ?? .max else { return .fresh }
        let sameSession = isOpen || journal.session != nil && journal.session == session
        let offset = sameSession ? partSize : journal.offset
        guard offset > 0 else { return .fresh }
        return .resume(offset: offset, validator: journal.validator, total: journal.total)
    }

    package static func action(
        _ status: Int, _ headers: HTTPFields, contentLength: Int64?, after start: DownloadStart,
        _ rules: RangeRules = RangeRules()
    ) -> DownloadResponseAction {
        switch (status, start) {
        case (200, _), (203, _):
            return .write(
                total: contentLength, validator: ResumeValidator.strong(in: headers))
        case (206, .fresh):
            return .refuse(
                "The server sent part of the file (206), but the whole file was requested.")
        case (206, .resume(let offset, let validator, let total)):
            return actionForPart(
                headers, contentLength: contentLength, offset: offset, validator: validator,
                total: total, rules)
        case (416, .resume(let offset, let validator, let total)):
            return actionForUnsatisfied(
                headers, offset: offset, validator: validator, total: total, rules)
        case (201...299, _):
            return .refuse("Status \(status) has no file content.")
        default:
            return .reject
        }
    }

    private static func actionForPart(
        _ headers: HTTPFields, contentLength: Int64?, offset: Int64, validator: String,
        total: Int64?, _ rules: RangeRules
    ) -> DownloadResponseAction {
        let type = headers[.contentType]?.lowercasedASCII() ?? ""
        guard !type.starts(withBytes: "multipart/byteranges"), !headers.haveContentCoding,
            isSameVersion(headers, validator: validator, rules),
            let range = headers[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes,
            bytes.lowerBound == offset - rules.overlap,
            total == nil || range.total == nil || total == range.total,
            !rules.isOtherURL || total == range.total,
            !rules.hasNoValidator || total != nil && total == range.total,
            bytes.upperBound < total ?? .max,
            // Only the overlap, although more is missing: a server that limits ranges to fewer bytes.
            bytes.upperBound >= offset || bytes.upperBound + 1 == range.total ?? total
        else { return .restart }
        if let contentLength, contentLength != bytes.upperBound - bytes.lowerBound + 1 {
            return .restart
        }
        return .append(at: offset, total: range.total ?? total)
    }

    private static func actionForUnsatisfied(
        _ headers: HTTPFields, offset: Int64, validator: String, total: Int64?,
        _ rules: RangeRules
    ) -> DownloadResponseAction {
        guard rules.overlap == 0, let range = headers[.contentRange].flatMap(ContentRange.init),
            range.bytes == nil,
            range.total == offset, total == nil || total == offset,
            isSameVersion(headers, validator: validator, rules)
        else { return .restart }
        return .settle(total: offset)
    }

    private static func isSameVersion(
        _ headers: HTTPFields, validator: String, _ rules: RangeRules
    ) -> Bool {
        rules.requiresValidator
            ? ResumeValidator.confirms(headers, validator: validator)
            : !ResumeValidator.contradicts(headers, validator: validator)
    }
}
