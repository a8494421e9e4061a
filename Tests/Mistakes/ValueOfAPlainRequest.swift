import Errand

final class ValueOfAPlainRequest: BaseRequest {}

nonisolated func valueOfAPlainRequest() async throws {
    _ = try await ValueOfAPlainRequest().value()
}

// error: 'value(on:)' is unavailable: It has no output. Use send(), or conform the endpoint to DecodableOutput, VoidOutput or TypedRequest.
