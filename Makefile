# run    build bourdon and the targets it finds, then the first experiment in its quick form
# test   everything: setup first, then formatting, lints, unit tests, end-to-end tests, the tests of the targets
# page-test  report.html of recorded and new runs in Debian's Chromium (what is missing is said, and the tests are left out)
# setup  what bourdon and the targets need from Debian's packages, and a word about each toolchain that is missing
# check  formatting and lints only
# golden refresh the golden files, to be read before they are committed
# build  the release binary alone
# statistics  write the simulated tables of docs/STATISTICS.md anew, to be read before they are committed
# survival  200 kills, 20 power cuts and everything that cannot be opened (root, for the power cuts), with what was counted
# test-zoo  every target with every runtime against the contract (some ten minutes)
# fuzz   the reply reader and the whole loop under hostile bytes, half an hour each (needs nightly and cargo-fuzz)
# bench-floor  CPU per request and lateness of `bourdon load` against bare system calls, over TLS bare rustls, as ratios (needs a quiet machine; nginx for TLS)
# bench-system-calls  what system calls and switches of context cost here
# prove-rotation  sessions of compare with a known truth, traps, and slices beside a neighbour that is alive or stopped, some eight hours; goes on where it was interrupted (FOLDER, proof/revisions); SESSIONS=N of each kind at most, KINDS='...' of all
# diagnose-live  faulty servers whose faults and sizes are drawn, each diagnosed once (CASES=N of each class and runtime, RUNTIMES=go,node,python,java,rust, CLASSES='...', FOLDER, proof/diagnosis; CLASSES='soak-healthy soak-leak' for soaks); goes on where it was interrupted
# prove-gates  takes each gate of the diagnosis away and sees that its case fails, some eight minutes
# test-scale  loads that up to 200 nodes make on this machine through a real nats-server, in pods of a real Kubernetes and by services of systemd (these two as root; their programs are built first), three quarters of an hour; PARTS='...' of spread stall samples broker connections kills kubernetes services
# bench-page  size of the page of 20 targets under 12 conditions in 12 blocks, and how long Chromium takes to open it
# bench-instructions  instructions a request of the load loop, beside those of another revision with BASE=REV (needs valgrind)

BOURDON := $(or $(CARGO_TARGET_DIR),target)/release/bourdon
# With the debug build that cargo test leaves: by itself it would be compiled once more, for fewer features.
PAGE_TEST := sh browser/test.sh --test --test-reporter=spec

.PHONY: setup test-zoo survival run build test page-test check golden statistics bench-floor bench-system-calls bench-page bench-instructions prove-rotation prove-gates test-scale diagnose-live fuzz targets-test unit-test simulations test-side-by-side test-beside test-told test-alone test-page need-cargo

run: build
	$(BOURDON) run experiments/business-latency.toml --quick

build: need-cargo
	cargo build --release --locked

# In this order, also under make -j. Setup reports what cannot be had; only the tests of that are left out. One pass tells
# all that fails.
test: need-cargo
	@$(MAKE) --no-print-directory setup
	@$(MAKE) --no-print-directory --keep-going -j1 check test-side-by-side test-alone test-page

# What does not mind what else the machine does.
test-side-by-side: need-cargo
	cargo test --workspace --no-run --locked
	@$(MAKE) --no-print-directory --keep-going -j5 --output-sync targets-test unit-test simulations test-beside test-told

# Suites to which no figure matters: those that mostly wait, and those of report's words and pictures. More tests at a time than CPUs.
BESIDE := audit command_line damaged failing_targets full_disk interrupted left_behind limits load_arguments long misbehave setup site \
          style survival targets tls_run
TOLD := calibration compare_text diagnosis documented load_text page pictures records run_text verdicts words_in_json
SUITES := $(basename $(notdir $(wildcard crates/*/tests/*.rs))) $(notdir $(patsubst %/main.rs,%,$(wildcard crates/*/tests/*/main.rs)))
test-beside: need-cargo
	RUST_TEST_THREADS=6 cargo test --workspace --no-fail-fast --locked $(BESIDE:%=--test %)

test-told: need-cargo
	RUST_TEST_THREADS=6 cargo test --workspace --no-fail-fast --locked $(TOLD:%=--test %)

# What has the machine to itself; tests that measure take turns (`Lab::new`).
test-alone: need-cargo
	RUST_TEST_THREADS=6 cargo test --workspace --no-fail-fast --locked $(patsubst %,--test %,$(filter-out $(BESIDE) $(TOLD) zoo,$(sort $(SUITES)))) --bench floor --bench rotation --bench blind --bench scale --bench system_calls --bench hot_path

test-page:
	@$(PAGE_TEST)

check: need-cargo
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit-test: need-cargo
	cargo test --workspace --no-fail-fast --locked --lib --bins -- --skip simulation

# They give way to what runs beside them.
simulations: need-cargo
	nice -n 19 cargo test --workspace --no-fail-fast --locked --lib -- simulation

# A missing toolchain is reported, as `bourdon targets` does, and does not fail.
targets-test: need-cargo
	@sh targets/test.sh
	cargo test --workspace --locked --test zoo

page-test: need-cargo
	cargo build --locked -p bourdon
	@$(MAKE) --no-print-directory test-page

test-zoo: need-cargo
	cargo test -p bourdon --test zoo --locked -- --ignored --nocapture

survival: need-cargo
	cargo test -p bourdon --test survival --test damaged --locked -- --include-ignored --nocapture

setup:
	@sh targets/setup.sh
	@sh scale/setup.sh

# No sanitizer: there is no unsafe code to look after, and without one it tries ten times as much.
fuzz: need-cargo
	cd fuzz && cargo +nightly fuzz run -s none reply -- -dict=http.dict -max_len=70000 -timeout=10 -max_total_time=1800
	cd fuzz && cargo +nightly fuzz run -s none load -- -max_len=4000 -timeout=10 -max_total_time=1800

bench-system-calls: need-cargo
	cargo bench -p bourdon --bench system_calls --locked

bench-floor: need-cargo
	cargo bench -p bourdon --bench floor --locked

bench-page: need-cargo
	cargo bench --profile dev -p bourdon-report --bench page --locked -- $(CURDIR)/target/bench-page.html
	@sh browser/test.sh bench.mjs $(CURDIR)/target/bench-page.html

bench-instructions: need-cargo
	@BASE=$(BASE) sh crates/engine/benches/instructions.sh

ALL_RUNTIMES := go,node,python,java,rust
diagnose-live: need-cargo
	cargo bench -p bourdon --bench blind --locked -- $(or $(FOLDER),$(CURDIR)/proof/diagnosis) $(or $(CASES),4) $(or $(RUNTIMES),$(ALL_RUNTIMES)) $(CLASSES)

prove-gates: need-cargo
	@sh crates/judge/benches/gates.sh

test-scale: need-cargo
	@sh scale/setup.sh
	cargo bench -p bourdon --bench scale --locked -- $(PARTS)

prove-rotation: need-cargo
	cargo bench -p bourdon --bench rotation --locked -- $(or $(FOLDER),$(CURDIR)/proof/revisions) $(or $(SESSIONS),40) $(KINDS)

golden:
	INSTA_UPDATE=always cargo test --workspace

statistics: need-cargo
	STATISTICS_UPDATE=1 cargo test -p bourdon-judge --lib --locked simulation

need-cargo:
	@command -v cargo >/dev/null || { echo "bourdon needs Rust: get it from https://rustup.rs, then run make again"; exit 1; }
