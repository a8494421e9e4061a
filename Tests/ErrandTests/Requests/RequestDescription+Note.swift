import Errand

extension RequestDescription {
    /// A POST request for outbox tests: its query holds the number, its body names the note.
    static func note(_ number: Int = 1, host: String = "a") -> RequestDescription {
        var description = RequestDescription(
            endpoint: "Note", url: "https://\(host).example.com/notes?n=\(number)")
        description.method = .post
        description.body = .string("note \(number)")
        return description
    }
}
