import ErrandTesting
import ErrandTransport
import Foundation

extension RecordingReceiver.Record {
    var text: String { String(decoding: body, as: UTF8.self) }
    var error: RequestError? { end?.error }
    var errorText: String { error?.description ?? "no error" }
}
