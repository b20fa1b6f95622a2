# Front door: each target prepares the machine (scripts/setup.sh, silent when nothing is missing) and calls one script.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-test demo test lint fmt bench chaos release

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup:
	@scripts/setup.sh

setup-test:
	@scripts/setup.sh test

demo: setup ## build Millstream and show it at work; ARGS='...' are passed on
	@scripts/demo.sh $(ARGS)

test: setup-test ## everything that must hold: lint, unit tests, SQL suites
	@scripts/test.sh

lint: setup-test ## formatting, tidy rules, crate arrows, clippy; warnings are errors
	@scripts/lint.sh

fmt: setup-test ## format all Rust code
	@. ./env.sh && cargo fmt --all

bench: setup ## build with optimisation and print benchmark figures; ARGS='...' are passed on
	@scripts/bench.sh $(ARGS)

chaos: setup-test ## kill servers again and again: SEED=n ROUNDS=r; nothing may be lost
	@SEED='$(SEED)' ROUNDS='$(ROUNDS)' scripts/chaos.sh

release: setup ## build the optimised binary and print where it is
	@. ./env.sh && cargo build --release --locked --bin millstream && echo "$$CARGO_TARGET_DIR/release/millstream"
