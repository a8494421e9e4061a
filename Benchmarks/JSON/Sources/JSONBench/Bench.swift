import CAllocations
import ErrandJSON
import Foundation

#if SIMDJSON
    import CSimdjson
#endif

/// All benchmarks of one document.
struct Bench {
    let document: Document
    let tasks: [String]

    func run<Model: Codable>(_ model: Model.Type) {
        let data = document.data
        var measure = Measure(
            bytes: data.count, rounds: rounds, secondsEach: 0.05)
        for task in tasks {
            switch task {
            case "parse": addParsers(&measure)
            case "shape":
                addShapes(&measure)
                addValidation(&measure, model)
            case "walk": addWalks(&measure)
            case "decode": addDecoders(&measure, model)
            default: addEncoders(&measure, model)
            }
        }
        let speeds = measure.speeds()
        print("\n\(document.name) (\(data.count) bytes), MB/s")
        report(
            speeds, "parse", "errand parse", over: ["JSONSerialization parse", "simdjson parse"])
        if speeds["errand parse"] != nil { reportAllocations() }
        report(speeds, "shape", "errand parse + shape", over: ["errand parse"])
        reportValidation(speeds)
        report(speeds, "walk", "errand walk", over: ["JSONSerialization walk"])
        report(
            speeds, "whole", "errand parse + walk",
            over: ["JSONSerialization parse + walk", "simdjson parse + walk"])
        report(speeds, "decode", "errand decode", over: ["JSONDecoder"])
        report(speeds, "encode", "errand encode", over: ["JSONEncoder"])
    }

    private func report(
        _ speeds: Speeds, _ task: String, _ own: String, over peers: [String]
    ) {
        guard let speed = speeds[own] else { return }
        var line = "  " + own.padding(toLength: 24, withPad: " ", startingAt: 0)
        line += String(format: "%8.1f", speed)
        for peer in peers {
            guard let other = speeds[peer], let ratio = speeds.ratio(own, over: peer)
            else { continue }
            line += String(format: "  %6.2f x ", ratio) + peer
            line += String(format: " (%.1f)", other)
        }
        print(line)
    }

    /// Reports the number of allocations of one parse, which must not depend on the document's
    /// size.
    private func reportAllocations() {
        guard allocation_count() >= 0 else { return }
        let bytes = Array(document.data)
        let start = allocation_count()
        keep(try? JSON(parsing: bytes))
        print("  errand parse               \(allocation_count() - start) allocations")
    }

    private func addParsers(_ measure: inout Measure) {
        let data = document.data
        measure.add("errand parse") { keep(try? JSON(parsing: data)) }
        measure.add("JSONSerialization parse") {
            keep(try? JSONSerialization.jsonObject(with: data))
        }
        #if SIMDJSON
            measure.add("simdjson parse") {
                data.withUnsafeBytes { keep(simdjson_parse($0.baseAddress, $0.count)) }
            }
        #endif
    }

    private func addShapes(_ measure: inout Measure) {
        let data = document.data
        let shape = document.kind.shape
        precondition((try? JSON(parsing: data)).map(shape.matches) == true)
        if !tasks.contains("parse") {
            measure.add("errand parse") { keep(try? JSON(parsing: data)) }
        }
        measure.add("errand parse + shape") {
            if let json = try? JSON(parsing: data) { keep(shape.matches(json)) }
        }
    }

    private func addWalks(_ measure: inout Measure) {
        let data = document.data
        let kind = document.kind
        guard let json = try? JSON(parsing: data),
            let object = try? JSONSerialization.jsonObject(with: data)
        else { return }
        precondition(kind.walk(json) == kind.walk(object))
        measure.add("errand walk") { keep(kind.walk(json)) }
        measure.add("JSONSerialization walk") { keep(kind.walk(object)) }
        measure.add("errand parse + walk") { keep((try? JSON(parsing: data)).map(kind.walk)) }
        measure.add("JSONSerialization parse + walk") {
            keep((try? JSONSerialization.jsonObject(with: data)).map { kind.walk($0) })
        }
        #if SIMDJSON
            measure.add("simdjson parse + walk") {
                data.withUnsafeBytes { keep(simdjson_walk($0.baseAddress, $0.count)) }
            }
        #endif
    }

    private func addDecoders<Model: Codable>(_ measure: inout Measure, _ model: Model.Type) {
        let data = document.data
        let own = JSONReader()
        let foundation = JSONDecoder()
        measure.add("errand decode") { keep(try? own.decode(model, from: data)) }
        measure.add("JSONDecoder") { keep(try? foundation.decode(model, from: data)) }
    }

    private func addEncoders<Model: Codable>(_ measure: inout Measure, _ model: Model.Type) {
        guard let value = try? JSONDecoder().decode(model, from: document.data) else { return }
        let own = JSONWriter()
        let foundation = JSONEncoder()
        measure.add("errand encode") { keep(try? own.encode(value)) }
        measure.add("JSONEncoder") { keep(try? foundation.encode(value)) }
    }
}
