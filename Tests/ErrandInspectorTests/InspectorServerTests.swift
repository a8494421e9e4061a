#if Inspector
    import ErrandCore
    import ErrandCurl
    import ErrandInspector
    import ErrandTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite("Inspector: server", .limited)
    struct InspectorServerTests {
        private func start() async throws -> (inspector: Inspector, agent: RequestAgent) {
            let transport = ScriptedTransport()
            transport.on(nil, nil, .json("{}"))
            let agent = RequestAgent(transport: transport)
            var options = Inspector.Options()
            options.printsURL = false
            options.isEnabledInReleaseBuilds = true
            return (try await Inspector.start(agent, options: options), agent)
        }

        /// The response of the inspector, whatever its status.
        private func get(
            _ url: String, token: String? = nil, origin: String? = nil
        ) async throws -> Response {
            let client = RequestAgent(transport: CurlTransport(), store: nil)
            var description = RequestDescription(endpoint: "Page", url: EndpointURL(raw: url))
            description.acceptance.format = .any
            description.acceptance.statuses = .any
            if let token { description.headers[.authorization] = "Bearer \(token)" }
            if let origin { description.headers[.origin] = origin }
            let response = try await client.start(description).response()
            await client.shutdown()
            return response
        }

        private func token(_ inspector: Inspector) throws -> String {
            let query = URLComponents(url: inspector.url, resolvingAgainstBaseURL: false)?
                .queryItems
            return try #require(query?.first { $0.name == "token" }?.value)
        }

        private func address(_ inspector: Inspector, _ host: String = "127.0.0.1") throws -> String
        {
            "http://\(host):\(try #require(inspector.url.port))"
        }

        @Test func pageNeedsTheTokenAndHasAStrictPolicy() async throws {
            let (inspector, _) = try await start()
            let page = try await get(inspector.url.absoluteString)
            #expect(page.status == 200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            #expect(page.headers[.accessControlAllowOrigin] == nil)
            #expect(page.headers[.cacheControl] == "no-store")
            let text = String(decoding: page.data, as: UTF8.self)
            #expect(!text.contains("src=") && !text.contains("<!-- s"))
            #expect(try await get(address(inspector) + "/").status == 401)
            #expect(try await get(address(inspector) + "/?token=wrong").status == 401)
            await inspector.stop()
        }

        @Test func everyCallNeedsTheToken() async throws {
            let (inspector, agent) = try await start()
            let (address, token) = (try address(inspector), try token(inspector))
            for path in ["changes", "state", "store", "rules", "har", "requests/1", "nothing"] {
                #expect(try await get("\(address)/api/\(path)").status == 401)
                #expect(try await get("\(address)/api/\(path)?token=\(token)").status == 401)
            }
            _ = try await agent.start(
                RequestDescription(endpoint: "A", url: "https://a.test/")
            ).response()
            let changes = try await get("\(address)/api/changes?since=0", token: token)
            #expect(changes.status == 200)
            #expect(changes.json["rows"][0]["url"].string == "https://a.test/")
            #expect(try await get("\(address)/favicon.ico", token: token).status == 404)
            await inspector.stop()
        }

        @Test func otherHostsAndOriginsAreRefused() async throws {
            let (inspector, _) = try await start()
            let token = try token(inspector)
            // The name leads to the loopback interface, like that of an attacker after DNS rebinding.
            let other = try address(inspector, "other.localhost")
            #expect(try await get("\(other)/api/state", token: token).status == 403)
            #expect(try await get("\(other)/?token=\(token)").status == 403)
            let own = try address(inspector, "localhost")
            #expect(try await get("\(own)/api/state", token: token).status == 200)
            let foreign = try await get("\(own)/api/state", token: token, origin: "https://a.test")
            #expect(foreign.status == 403)
            await inspector.stop()
        }

        @Test func portIsOfTheLoopbackInterfaceOnly() async throws {
            let (inspector, _) = try await start()
            let other = try address(inspector, "127.0.0.2")
            let error = await #expect(throws: RequestError.self) { try await get("\(other)/") }
            #expect(error?.code == .cannotConnect)
            await inspector.stop()
        }

        @Test func stopClosesThePortAndEndsRecording() async throws {
            let (inspector, agent) = try await start()
            #expect(agent.configuration.eventListeners.count == 1)
            await inspector.stop()
            await inspector.stop()
            #expect(agent.configuration.eventListeners.isEmpty)
            let error = await #expect(throws: RequestError.self) {
                try await get(inspector.url.absoluteString)
            }
            #expect(error?.code == .cannotConnect)
            let second = try await Inspector.start(agent, options: quiet())
            #expect(second.url != inspector.url)
            await second.stop()
        }

        private func quiet() -> Inspector.Options {
            var options = Inspector.Options()
            options.printsURL = false
            options.isEnabledInReleaseBuilds = true
            return options
        }

        @Test func agentHasOneInspector() async throws {
            let (inspector, agent) = try await start()
            let error = await #expect(throws: RequestError.self) {
                try await Inspector.start(agent, options: quiet())
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("has an inspector") == true)
            await inspector.stop()
        }

        @Test func portInUseIsAnError() async throws {
            let (inspector, _) = try await start()
            var options = quiet()
            options.port = UInt16(try #require(inspector.url.port))
            let agent = RequestAgent(transport: ScriptedTransport())
            let error = await #expect(throws: RequestError.self) {
                try await Inspector.start(agent, options: options)
            }
            #expect(error?.code == .cannotConnect)
            #expect(error?.message.contains("Options.port") == true)
            #expect(agent.configuration.eventListeners.isEmpty)
            await inspector.stop()
        }
    }
#endif
