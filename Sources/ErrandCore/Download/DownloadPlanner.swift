package import HTTPTypes

/// How a download's next request begins.
package enum DownloadStart: Sendable, Hashable {
    /// At the first byte.
    case fresh
    /// At this byte, if the validator still holds.
    case resume(offset: Int64, validator: String, total: Int64?)
}

/// What to do with an answer, judged by its head (row DL-7).
package enum DownloadAnswer: Sendable, Hashable {
    /// It is the whole file: write from the first byte. Without validator it can never be resumed.
    case write(total: Int64?, validator: String?)
    /// It is the rest, or a part of it: append.
    case append(at: Int64, total: Int64?)
    /// There is no rest: the part file is the whole file already.
    case settle(total: Int64)
    /// What is there is worth nothing: ask for everything.
    case restart
    /// It is the answer of an error: none of its bytes belong into a file.
    case reject
    /// It is not what HTTP allows here.
    case refuse(String)
}

/// The decisions of a download, free of files and sockets.
package enum DownloadPlanner {
    /// Whether a part file is continued, and where.
    ///
    /// - Parameters:
    ///   - partSize: How large the part file is; `nil` when there is none.
    ///   - session: The present run of the operating system.
    package static func start(
        allowsResume: Bool, url: String, journal: DownloadJournal?, partSize: Int64?,
        session: String?
    ) -> DownloadStart {
        guard allowsResume, let journal, let partSize, journal.url == url else { return .fresh }
        // Somebody else has cut the file short: who knows what else happened to it.
        guard partSize >= journal.offset, partSize <= journal.total ?? .max else { return .fresh }
        let sameSession = journal.session != nil && journal.session == session
        let offset = sameSession ? partSize : journal.offset
        guard offset > 0 else { return .fresh }
        return .resume(offset: offset, validator: journal.validator, total: journal.total)
    }

    package static func judge(
        _ status: Int, _ headers: HTTPFields, contentLength: Int64?, after start: DownloadStart
    ) -> DownloadAnswer {
        switch (status, start) {
        case (200, _), (203, _):
            return .write(
                total: contentLength, validator: ResumeValidator.strong(in: headers))
        case (206, .fresh):
            return .refuse(
                "The server sent a part of the file (206) though all of it was asked for.")
        case (206, .resume(let offset, let validator, let total)):
            return judgePart(
                headers, contentLength: contentLength, offset: offset, validator: validator,
                total: total)
        case (416, .resume(let offset, let validator, let total)):
            return judgeUnsatisfied(
                headers, offset: offset, validator: validator, total: total)
        case (201...299, _):
            return .refuse("The server answered \(status), which brings no file.")
        default:
            return .reject
        }
    }

    private static func judgePart(
        _ headers: HTTPFields, contentLength: Int64?, offset: Int64, validator: String,
        total: Int64?
    ) -> DownloadAnswer {
        let type = headers[.contentType]?.lowercased() ?? ""
        guard !type.hasPrefix("multipart/byteranges"), !ResumeValidator.isEncoded(headers),
            !ResumeValidator.contradicts(headers, validator: validator),
            let range = headers[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes,
            bytes.lowerBound == offset,
            total == nil || range.total == nil || total == range.total,
            bytes.upperBound < total ?? .max
        else { return .restart }
        if let contentLength, contentLength != bytes.upperBound - bytes.lowerBound + 1 {
            return .restart
        }
        return .append(at: offset, total: range.total ?? total)
    }

    private static func judgeUnsatisfied(
        _ headers: HTTPFields, offset: Int64, validator: String, total: Int64?
    ) -> DownloadAnswer {
        guard let range = headers[.contentRange].flatMap(ContentRange.init), range.bytes == nil,
            range.total == offset, total == nil || total == offset,
            !ResumeValidator.contradicts(headers, validator: validator)
        else { return .restart }
        return .settle(total: offset)
    }
}
