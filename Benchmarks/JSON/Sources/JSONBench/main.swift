// Reports speeds in megabytes of JSON text per second of processor time, as medians, and the
// medians of the ratios to other libraries within a round.
//
//     swift run -c release JSONBench                      all sizes
//     swift run -c release JSONBench 20KB                 one of 2KB, 20KB, 10MB
//     swift run -c release JSONBench 20KB twitter parse   only the selected jobs
import ErrandJSON
import Foundation

#if SIMDJSON
    import CSimdjson
    print("simdjson uses its \(String(cString: simdjson_implementation())) implementation")
#endif

let words = CommandLine.arguments.dropFirst()
let sizes = [("2KB", 2_000), ("20KB", 20_000), ("10MB", 10_000_000)]
let chosen = sizes.filter { words.contains($0.0) }
let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "") ?? 7
let tasks = ["parse", "shape", "walk", "decode", "encode"]
let chosenTasks = tasks.filter { words.contains($0) }

for document in Documents.all(sizes: chosen.isEmpty ? sizes : chosen) {
    let kinds = ["twitter", "canada", "citm"].filter { words.contains($0) }
    if !kinds.isEmpty, !kinds.contains(where: { document.name.hasPrefix($0) }) { continue }
    let bench = Bench(document: document, tasks: chosenTasks.isEmpty ? tasks : chosenTasks)
    switch document.kind {
    case .twitter: bench.run(Twitter.self)
    case .canada: bench.run(Canada.self)
    case .citm: bench.run(Citm.self)
    }
}
