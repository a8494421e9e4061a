# The one way into this project. `make demo` shows it, `make test` proves it.
.POSIX:
.PHONY: help setup demo test walls lint format build unit airline release docs bench tsan asan clean

help:
	@echo 'make demo    run Examples/Airline twice: the API of an airline, from register to a resumed download'
	@echo 'make test    everything that must hold: walls, lint, warnings as errors, tests, clients, example'
	@echo 'make lint    walls, formatting, documentation of every public declaration'
	@echo 'make format  bring the sources into form'
	@echo 'make docs    build the documentation, warnings as errors'
	@echo 'make bench   CPU and memory beside plain C libcurl'
	@echo 'make tsan    tests under ThreadSanitizer'
	@echo 'make asan    tests under AddressSanitizer'
	@echo 'make setup   install what the build needs (done by the others where necessary)'

setup:
	@Scripts/setup

demo: setup
	@Scripts/airline

test: setup walls lint build unit airline release
	@echo 'make test: everything passed'

walls:
	@Scripts/check-walls
	@Scripts/check-walls --self-test

lint: walls
	@Scripts/lint

format:
	@Scripts/lint --fix

build: setup
	@Scripts/build-strictly

unit: build
	@Scripts/setup --tests
	@Scripts/run-tests

airline: setup
	@Scripts/airline --quiet

release: setup
	@Scripts/build-release

docs: setup
	@Scripts/build-docs

bench: setup
	@Scripts/setup --bench
	@Benchmarks/run

tsan: setup
	@Scripts/setup --tests
	@Scripts/run-sanitized thread

asan: setup
	@Scripts/setup --tests
	@Scripts/run-sanitized address

clean:
	rm -rf .build .build-* Examples/*/.build Benchmarks/.build
