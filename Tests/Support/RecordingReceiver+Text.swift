package import ErrandTesting
package import ErrandTransport
import Foundation

extension RecordingReceiver.Record {
    package var text: String { String(decoding: body, as: UTF8.self) }
    package var error: RequestError? { end?.error }
    package var errorText: String { error?.description ?? "no error" }
}
