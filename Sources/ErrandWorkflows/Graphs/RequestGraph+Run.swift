package import Errand
import ErrandCore

extension RequestGraph {
    package func reserveMembers(_ control: RequestTask.Members) -> RequestError? {
        results = Results(identity)
        output = nil
        error = nil
        failedRequest = nil
        failedNode = nil
        members = []
        do throws(RequestError) {
            let run = GraphRun(self, try topology(), control)
            if let refusal = run.reserve() { return refusal }
            active = run
            return nil
        } catch {
            return error
        }
    }

    package func releaseMembers() {
        active?.release()
        active = nil
    }

    package func describeMembers() { active?.describe() }

    nonisolated(nonsending) package func run(_ control: RequestTask.Members) async -> RequestError?
    {
        guard let run = active else { return .cancelled }
        await run.carryOut()
        active = nil
        members = run.members
        results = Results(identity, names: run.names, values: run.results)
        if let error = control.stopError { return error }
        guard case .failed(let node) = run.verdict, case .failure(var error) = results.values[node]
        else {
            output = results
            return nil
        }
        failedRequest = members[node]?.failedOfAll
        failedNode = results.names[node]
        if !error.isCancellation {
            error.message += " The graph failed at its node '\(results.names[node])'."
        }
        return error
    }
}
