# All commands of the project. `make test` runs before each commit, `make check` before a release; `make help` lists the rest.
.POSIX:
.PHONY: help setup new template demo demo-hub check test chaos traits boundaries language lint format samples build mistakes unit
.PHONY: airline hub fetch chat petstore generator openapi check-darwin framing autobahn release docs check-docs api bench instructions tsan asan
.PHONY: mutate fuzz footprint release-check clean

help:
	@echo 'make new NAME=Hub  write a package for the client of a service into ../Hub, from Examples/Template'
	@echo 'make demo          run Examples/Airline twice: registration, caching, a resumed download'
	@echo 'make demo-hub      run Examples/Hub: pages, errors, token refresh, upload, download, batch, chain'
	@echo 'make test          boundaries, lint, strict build, all tests, examples'
	@echo 'make check         make test, then traits, footprint, other platforms, documentation, release, template, chaos, framing, autobahn'
	@echo 'make footprint     measure size, start, memory and build of a program that sends one GET, with AsyncHTTPClient beside it'
	@echo 'make check-darwin  compile the code for Apple platforms, as far as Linux can'
	@echo 'make chaos         10,000 requests for each transport and style to a server that breaks the protocol at random'
	@echo 'make framing       compare the framing of HTTP/2 with hpack and hyperframe of PyPI'
	@echo 'make lint          module boundaries, language, formatting, documentation, the list of deliberate faults'
	@echo 'make format        format the Swift sources, update generated samples, tables and pictures'
	@echo 'make autobahn      run the Autobahn test suite of WebSocket; needs Python 2.7'
	@echo 'make generator     test the OpenAPI generator; Scripts/openapi --update writes the sources of its tests again'
	@echo 'make openapi       compile what it generates, also from the documents of ERRAND_OPENAPI_DOCUMENTS, and prove it'
	@echo 'make docs          build the documentation in .build/docs, with warnings as errors'
	@echo 'make check-docs    open the documentation in Chromium and follow every internal link'
	@echo 'make samples       check that compiled samples, version and figures match README and articles'
	@echo 'make api           report breaking API changes since the last version tag'
	@echo 'make release-check  the files name one version, and the first program of the README runs from a local tag'
	@echo 'make bench         measure CPU and memory against plain C libcurl'
	@echo 'make instructions  compare instruction counts with the stored thresholds'
	@echo 'make tsan          run the tests with ThreadSanitizer'
	@echo 'make asan          run the tests with AddressSanitizer'
	@echo 'make mutate        check that the tests detect the deliberate faults of Scripts/mutants'
	@echo 'make fuzz          fuzz the HTTP/1.1 response parser, HTTP/2 and the stream parsers for SECONDS (60) each'
	@echo 'make setup         install the dependencies of the build (other targets run it if needed)'
	@echo 'make clean         delete all build folders'

setup:
	@Scripts/setup

new:
	@Scripts/new $(NAME)

template: setup
	@Scripts/new --check

demo: setup
	@Scripts/example Airline

demo-hub: setup
	@Scripts/example Hub

test: setup lint samples build mistakes unit airline hub fetch chat petstore generator
	@echo 'make test: all checks passed'

check: test traits footprint check-darwin check-docs release template release-check chaos framing autobahn openapi

chaos: setup
	@Scripts/setup --tests
	@Scripts/chaos $(REQUESTS)

framing: setup
	@Scripts/setup --tests
	@Scripts/hpack-stories
	@Scripts/framing-opinions

autobahn: setup
	@Scripts/autobahn

traits: setup
	@Scripts/check-traits

footprint: setup
	@Scripts/setup --footprint
	@Benchmarks/footprint --check --peers --build

check-darwin: setup
	@Scripts/check-darwin --self-test

boundaries:
	@Scripts/check-boundaries
	@Scripts/check-boundaries --self-test
	@Scripts/draw-architecture --check

language:
	@Scripts/check-language --self-test
	@Scripts/check-language

lint: boundaries language
	@Scripts/lint
	@Scripts/inspector-page --check
	@Scripts/mutate --list >/dev/null

samples:
	@Scripts/doc-samples --self-test
	@Scripts/doc-samples --check
	@Scripts/release-check --files
	@Benchmarks/report --check

format:
	@Scripts/inspector-page
	@Scripts/lint --fix
	@Scripts/doc-samples
	@Benchmarks/report
	@Scripts/draw-architecture
	@Scripts/check-boundaries --write

build: setup
	@Scripts/build-strictly

mistakes: build
	@Scripts/check-mistakes
	@Scripts/count-api

unit: build
	@Scripts/setup --tests
	@Scripts/run-tests

airline: setup
	@Scripts/example Airline --quiet

hub: setup
	@Scripts/example Hub --quiet

fetch: setup
	@Scripts/setup --tests
	@Scripts/example Fetch --quiet

chat: setup
	@Scripts/setup --tests
	@Scripts/example Chat --quiet

petstore: setup
	@Scripts/example Petstore --quiet

generator: setup
	@Scripts/openapi --tests

openapi: setup
	@Scripts/openapi

release: setup
	@Scripts/build-release

docs: setup
	@Scripts/build-docs

check-docs: build docs
	@Scripts/setup --tests
	@Scripts/check-docs --self-test
	@Scripts/check-docs

release-check: setup
	@Scripts/release-check

api: setup
	@Scripts/check-api

bench: setup
	@Scripts/setup --bench
	@Benchmarks/run
	@Benchmarks/fetch

instructions: setup
	@Scripts/setup --instructions
	@Benchmarks/instructions --check

tsan: setup
	@Scripts/setup --tests
	@Scripts/run-sanitized thread

asan: setup
	@Scripts/setup --tests
	@Scripts/run-sanitized address

mutate: setup
	@Scripts/setup --tests
	@Scripts/mutate

fuzz: setup
	@Scripts/fuzz $(SECONDS)

clean:
	rm -rf .build .build-* Examples/.build Benchmarks/.build OpenAPI/.build
