import Foundation
import TestSupport
import Testing

@testable import ErrandCurl

/// Buffers that go to chunks and return with their release.
@Suite(.limited) struct ReadBuffersTests {
    private func chunk(_ buffers: ReadBuffers, _ byte: UInt8, count: Int) -> Data {
        let buffer = buffers.take()
        buffer.memory.initializeMemory(as: UInt8.self, repeating: byte)
        return buffers.chunk(UnsafeRawBufferPointer(rebasing: buffer.memory[..<count]), of: buffer)
    }

    @Test func aReleasedChunkReturnsItsBuffer() {
        let buffers = ReadBuffers(byteCount: 100, limit: 2)
        var chunk: Data? = chunk(buffers, 7, count: 60)
        #expect(chunk == Data(repeating: 7, count: 60))
        #expect(chunk?.startIndex == 0)
        #expect(buffers.count == 0)
        chunk = nil
        #expect(buffers.count == 1)
    }

    @Test func chunksThatAreKeptHaveTheirOwnBuffers() {
        let buffers = ReadBuffers(byteCount: 100, limit: 2)
        let chunks = (0..<5).map { self.chunk(buffers, $0, count: 100) }
        #expect(chunks == (0..<5).map { Data(repeating: $0, count: 100) })
    }

    @Test func noMoreBuffersAreKeptThanTheLimit() {
        let buffers = ReadBuffers(byteCount: 100, limit: 2)
        var chunks = (0..<5).map { chunk(buffers, $0, count: 100) }
        chunks.removeAll()
        #expect(buffers.count == 2)
        buffers.removeAll()
        #expect(buffers.count == 0)
    }

    @Test func aChangedChunkIsACopy() {
        let buffers = ReadBuffers(byteCount: 100, limit: 2)
        var chunk = chunk(buffers, 7, count: 100)
        let copy = chunk
        chunk[0] = 1
        #expect(copy == Data(repeating: 7, count: 100))
        #expect(chunk == Data([1]) + Data(repeating: 7, count: 99))
    }
}
