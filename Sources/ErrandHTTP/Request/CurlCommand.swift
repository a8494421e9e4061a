import ErrandSystem
import HTTPTypes

extension TransportRequest {
    /// The request as a `curl` command line for a POSIX shell.
    ///
    /// Run, it sends the same method, URL, header fields and body; fields that curl would add are removed. It contains
    /// no proxy, TLS or address options, and `Accept-Encoding` has the codings of the installed curl. A comment at the
    /// end names what a command line cannot contain: trailers, and the bytes of streams, of binary data and of text
    /// that is longer than 64 KiB or has control characters. The command reads these bytes from files such as
    /// `body.bin` in the working directory. Parts of a form are sent with a boundary of curl.
    ///
    /// - Parameter redactsSecrets: Whether placeholders replace credentials, cookies, secret query values and
    ///   the bytes of the body (default true). The names of query arguments decide which values are secret.
    public func curlCommand(redactsSecrets: Bool = true) -> String {
        var content = CurlContent(redactsSecrets: redactsSecrets)
        content.add(encodedBody)
        var words = ["curl"]
        switch method {
        case .get where body == nil: break
        // With `--request HEAD`, curl would wait for a body.
        case .head where body == nil: words.append("--head")
        default: words += ["--request", method.rawValue]
        }
        words += ["--url", redactsSecrets ? urlWithoutSecrets : url.string]
        // curl expands brackets and braces, and removes dot segments.
        if url.string.utf8.contains(where: ByteSet("[]{}").contains) { words.append("--globoff") }
        if url.path.lowercasedASCII().replacing(bytes: "%2e", with: ".").contains(bytes: "/.") {
            words.append("--path-as-is")
        }
        words += headerWords(redactsSecrets: redactsSecrets, isForm: content.isForm)
        let acceptsCodings = headers.contains(.acceptEncoding) || !headers.contains(.range)
        if options.decodesContent && acceptsCodings { words.append("--compressed") }
        words += content.words
        let command = words.map(Self.shellQuoted).joined(separator: " ")
        var notes = content.notes
        let names = body?.trailerNames.filter { HTTPField.Name($0) != nil } ?? []
        if !names.isEmpty {
            let list = names.map(Self.shellQuoted).joined(separator: ", ")
            notes.append("without the trailers: " + list)
        }
        return notes.isEmpty ? command : command + " # " + notes.joined(separator: "; ")
    }

    /// The body, with a value encoded.
    private var encodedBody: HTTPBody? { (try? body?.encoded(by: .requestDefault)) ?? body }

    private func headerWords(redactsSecrets: Bool, isForm: Bool) -> [String] {
        // The transports ignore these fields and write their own.
        let ignored: Set = ["host", "content-length", "transfer-encoding"]
        var fields = headers.filter { !ignored.contains($0.name.rawName) }
        if let type = body?.contentType, !headers.contains(.contentType) {
            fields.append(HTTPField(name: .contentType, value: type))
        }
        // curl writes the type of a form with its own boundary.
        if isForm { fields.removeAll { $0.name == .contentType } }
        var lines = fields.map { field in
            let isSecret =
                redactsSecrets && options.secretNames.isSecret(header: field.name.rawName)
            let value = isSecret ? Self.placeholder : field.value
            // A header with an empty value ends with a semicolon; otherwise curl removes the header.
            return value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)"
        }
        func remove(_ name: HTTPField.Name) {
            if !fields.contains(where: { $0.name == name }) { lines.append("\(name.rawName):") }
        }
        if body == nil {
            // A method that expects a body announces an empty one (RFC 9110 §8.6).
            if [.post, .put, .patch].contains(method) { lines.append("Content-Length: 0") }
        } else {
            if !isForm { remove(.contentType) }
            let length = body?.knownLength
            if length.map({ $0 > Self.expectThreshold }) ?? true { remove(.expect) }
            if case .stream = encodedBody?.storage, length == nil {
                lines.append("Transfer-Encoding: chunked")
            }
        }
        for name in [HTTPField.Name.accept, .userAgent] { remove(name) }
        return lines.flatMap { ["--header", $0] }
    }

    private var urlWithoutSecrets: String {
        let redacted = url.query?.pieces(at: "&", keepingEmpty: true)
            .map { pair in
                guard let equals = pair.firstIndex(ofByte: "="),
                    options.secretNames.isSecret(
                        argument: String(
                            decoding: PercentEncoding.decode(Array(pair[..<equals].utf8)),
                            as: UTF8.self))
                else { return String(pair) }
                return pair[..<equals] + "=" + Self.placeholder
            }
            .joined(separator: "&")
        return url.text(
            userInfo: url.userInfo == nil ? nil : Self.placeholder, query: redacted,
            fragment: url.fragment)
    }

    private static let placeholder = "<redacted>"
    /// The length of a body from which on some versions of curl send `Expect: 100-continue`, in bytes.
    private static let expectThreshold = 1024
    private static let plainBytes = ByteSet.alphanumeric.union("-._/:=@%+,")

    /// The word, quoted if a shell would change it.
    private static func shellQuoted(_ word: String) -> String {
        if !word.isEmpty && word.utf8.allSatisfy(plainBytes.contains) { return word }
        return "'" + word.replacing(bytes: "'", with: "'\\''") + "'"
    }
}

/// The options of curl for a body, and notes about the files that they name.
private struct CurlContent {
    let redactsSecrets: Bool
    var words: [String] = []
    var notes: [String] = []
    /// Whether the body is a form that curl encodes.
    var isForm = false

    init(redactsSecrets: Bool) { self.redactsSecrets = redactsSecrets }

    mutating func add(_ body: HTTPBody?) {
        switch body?.storage {
        case nil: break
        case .file(let file): words = ["--data-binary", "@\(file.path)"]
        case .data(let data):
            if let text = text(of: data) {
                words = ["--data-raw", text]
            } else {
                addFile("the \(data.count) bytes of the body")
            }
        case .multipart(let multipart) where isPossible(multipart):
            isForm = true
            for (index, part) in multipart.parts.enumerated() { add(part, index + 1, multipart) }
        case .stream, .multipart, .value, .invalid: addFile("the bytes of the body")
        }
    }

    private mutating func addFile(_ content: String) {
        words = ["--data-binary", "@body.bin"]
        notes.append("body.bin: \(content)")
    }

    /// The bytes as an argument; `nil` if they are no text that can be pasted into a terminal.
    private func text(of data: Data) -> String? {
        if redactsSecrets && !data.isEmpty { return "<body of \(data.count) bytes>" }
        // Linux limits the length of an argument to 128 KiB.
        guard data.count <= 64 << 10, let text = String(validating: data, as: UTF8.self),
            isPastable(text)
        else { return nil }
        return text
    }

    /// Whether a text has no control characters, which a terminal interprets, except line feeds and tabs.
    private func isPastable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x09, 0x0A: true
            case 0..<0x20, 0x7F..<0xA0: false
            default: true
            }
        }
    }

    // MARK: - Forms

    /// The header lines of a part.
    private func lines(of part: HTTPBody.Part, _ multipart: MultipartBody) -> [String] {
        String(decoding: multipart.head(of: part), as: UTF8.self).replacing(bytes: "\r", with: "")
            .pieces(at: "\n").dropFirst().map { String($0) }
    }

    /// Whether curl can send the form: it has none without parts, and adds a type to files without one.
    private func isPossible(_ multipart: MultipartBody) -> Bool {
        !multipart.parts.isEmpty
            && multipart.parts.allSatisfy { part in
                let lines = lines(of: part, multipart)
                if case .file = part.body.storage, !lines.contains(where: isType) { return false }
                return lines.allSatisfy(isPastable)
            }
    }

    private func isType(_ line: String) -> Bool {
        line.lowercasedASCII().starts(withBytes: "content-type:")
    }

    private mutating func add(
        _ part: HTTPBody.Part, _ number: Int, _ multipart: MultipartBody
    ) {
        var source: String
        switch ((try? part.body.encoded(by: .requestDefault)) ?? part.body).storage {
        case .file(let file): source = "@" + quoted(file.path)
        case .data(let data):
            let visible = redactsSecrets ? "<\(data.count) bytes>" : text(of: data)
            source =
                visible.map(quoted) ?? file("the \(data.count) bytes of part \(number)", number)
        case .stream, .multipart, .value, .invalid:
            source = file("the bytes of part \(number)", number)
        }
        let isSimple =
            part.headers.isEmpty && !part.sendsExtendedFilename
            && part.name?.isEmpty == false
            && part.name?.utf8.allSatisfy(Self.nameBytes.contains) == true
        // curl accepts a file name for files only, and derives one from the path.
        if isSimple, (part.filename != nil) == source.starts(withBytes: "@"),
            part.filename?.utf8.allSatisfy(Self.fileNameBytes.contains) != false,
            part.body.contentType.map(isPlain) != false
        {
            if let filename = part.filename { source += ";filename=" + quoted(filename) }
            if let type = part.body.contentType { source += ";type=\(type)" }
            words += ["--form", "\(part.name ?? "")=\(source)"]
        } else {
            // A file without a file name of its own is read with `<`.
            if part.filename == nil, source.starts(withBytes: "@") {
                source = "<\(Substring(source.utf8.dropFirst()))"
            }
            let fields = lines(of: part, multipart).map { ";headers=" + quoted($0) }
            words += ["--form", "part\(number)=\(source)\(fields.joined())"]
        }
    }

    private mutating func file(_ content: String, _ number: Int) -> String {
        notes.append("part-\(number).bin: \(content)")
        return "@part-\(number).bin"
    }

    /// A value of `--form` in double quotes.
    private func quoted(_ text: String) -> String {
        let escaped = text.replacing(bytes: "\\", with: "\\\\").replacing(bytes: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }

    private func isPlain(_ type: String) -> Bool {
        let parts = type.pieces(at: "/", keepingEmpty: true)
        return parts.count == 2
            && parts.allSatisfy { $0.utf8.allSatisfy(Self.typeBytes.contains) && !$0.isEmpty }
    }

    private static let nameBytes = ByteSet.alphanumeric.union("-._[] ")
    private static let fileNameBytes = ByteSet.alphanumeric.union("-._ ()")
    private static let typeBytes = ByteSet.alphanumeric.union("-._+")
}
