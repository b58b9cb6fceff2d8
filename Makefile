# run    build bourdon and the targets it finds, then the first experiment in its quick form
# test   everything: formatting, lints, unit tests, end-to-end tests, the targets' own tests
# check  formatting and lints only
# golden refresh the golden files, to be read before they are committed
# build  the release binary alone
# statistics  write the simulated tables of docs/STATISTICS.md anew, to be read before they are committed
# bench-floor  CPU per request of `bourdon load` against bare system calls, as a ratio (needs a quiet machine)

BOURDON := target/release/bourdon

.PHONY: run build test check golden statistics bench-floor targets-test need-cargo

run: build
	$(BOURDON) run experiments/business-latency.toml --quick

build: need-cargo
	cargo build --release --locked

test: check targets-test
	cargo test --workspace --locked

check: need-cargo
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# A toolchain that is missing is said, as `bourdon targets` does, and no reason to fail.
targets-test:
	@if command -v go >/dev/null; then cd targets/go && gofmt -l . | (! grep .) && go vet ./... && go test ./...; \
	else echo "no go on PATH: the Go targets are not tested (get it from https://go.dev/dl)"; fi

bench-floor: need-cargo
	cargo bench -p bourdon --bench floor --locked

golden:
	INSTA_UPDATE=always cargo test --workspace

statistics: need-cargo
	STATISTICS_UPDATE=1 cargo test -p bourdon-judge --lib --locked simulation

need-cargo:
	@command -v cargo >/dev/null || { echo "bourdon needs Rust: get it from https://rustup.rs, then run make again"; exit 1; }
