# What can be done here, one line each.
INTERLOCK = cargo run --quiet --package interlock-cli --
.PHONY: help setup test test-parts lint deny demo bench fuzz acp pictures docs release
help:      ; @sed -n '/^help:/d; s/^# *//p; s/^\([a-z-]*\):.*## */  make \1\t/p' Makefile | expand -t 20
setup:     ; @scripts/setup.sh ## install what tests need and is missing
test:      setup ; scripts/test.sh ## format, tests, lints, licences: everything but the tests that need heavy parts
test-parts: setup ; scripts/test.sh parts ## the tests that need heavy parts: real agents, kernels, a browser, a model
lint:      ; cargo fmt --all --check && cargo clippy --workspace --all-targets -- -D warnings ## format and lints
deny:      ; scripts/deny.sh ## licences and origins of dependencies
demo:      ; @scripts/demo.sh ## repair a firmware on QEMU, without a key or a network
bench:     ; scripts/bench.sh ## how fast it is
fuzz:      ; scripts/fuzz.sh ## ten minutes for every reader
acp:       ; scripts/acp.sh ## talk to the coder with the client library of the Agent Client Protocol
pictures:  ; scripts/pictures.sh && scripts/screenshots.sh ## draw the pictures of the documents again
docs:      ; UPDATE_DOCS=1 cargo test --package interlock-cli --lib --test all -- documents:: workspace:: args::reference:: ## run the documents' commands and show what they print
release:   ; scripts/release.sh ## archives and packages (deb, wheel, npm) for x86_64 and aarch64 Linux
