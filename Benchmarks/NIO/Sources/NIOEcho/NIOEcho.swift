import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Echoes messages with SwiftNIO: `NIOEcho COUNT IN_FLIGHT URL SIZE`.
@main
enum NIOEcho {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[1]), let inFlight = Int(arguments[2]),
            let url = URL(string: arguments[3]), let size = Int(arguments[4]),
            let host = url.host, let port = url.port
        else { exit(2) }
        let begin = usage()
        let start = ContinuousClock.now
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let ended = group.next().makePromise(of: Int.self)
        let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: 4 << 20) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1000,
                        maxAccumulatedFrameSize: 4 << 20))
                try channel.pipeline.syncOperations.addHandler(
                    EchoHandler(count: count, inFlight: inFlight, size: size, ended: ended))
            }
        }
        let channel = try ClientBootstrap(group: group)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let request = RequestHandler(host: "\(host):\(port)")
                    try channel.pipeline.syncOperations.addHTTPClientHandlers(
                        withClientUpgrade: (
                            upgraders: [upgrader],
                            completionHandler: { context in
                                context.pipeline.syncOperations.removeHandler(request, promise: nil)
                            }
                        ))
                    try channel.pipeline.syncOperations.addHandler(request)
                }
            }
            .connect(host: host, port: port).wait()
        let bad = try ended.futureResult.wait()
        let end = usage()
        let wall = (ContinuousClock.now - start) / .seconds(1)
        print(
            "{\"cpu_s\": \(end.cpu - begin.cpu), \"wall_s\": \(wall), "
                + "\"rss_peak_kb\": \(end.memory), \"bad\": \(bad)}")
        _ = channel
        exit(0)
    }

    private static func usage() -> (cpu: Double, memory: Int) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss)
    }
}

/// Sends the head of the request that is upgraded.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let host: String

    init(host: String) { self.host = host }

    func channelActive(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/",
            headers: ["Host": host, "Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }
}

/// Sends messages and counts their echoes.
final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let count: Int
    private let inFlight: Int
    private let size: Int
    private let ended: EventLoopPromise<Int>
    private var sent = 0
    private var received = 0
    private var bad = 0
    private var mustFlush = false

    init(count: Int, inFlight: Int, size: Int, ended: EventLoopPromise<Int>) {
        (self.count, self.inFlight, self.size, self.ended) = (count, inFlight, size, ended)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        while sent < min(inFlight, count) { send(context) }
        context.flush()
    }

    private func send(_ context: ChannelHandlerContext) {
        var buffer = context.channel.allocator.buffer(capacity: size)
        buffer.writeRepeatingByte(0x78, count: size)
        let frame = WebSocketFrame(
            fin: true, opcode: .binary, maskKey: .random(), data: buffer)
        context.write(wrapOutboundOut(frame), promise: nil)
        sent += 1
        mustFlush = true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        received += 1
        if frame.data.readableBytes != size { bad += 1 }
        if sent < count { send(context) }
        if received == count { ended.succeed(bad) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if mustFlush { context.flush() }
        mustFlush = false
    }
}
