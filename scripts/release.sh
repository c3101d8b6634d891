#!/usr/bin/env bash
# Builds release archives: dist/interlock-VERSION-TARGET.tar.gz with the binary, manual pages, shell completions, licences and documents,
# and dist/SHA256SUMS.
#
#   scripts/release.sh [TARGET…]       default: x86_64 and aarch64 Linux, linked statically with musl
#
# A target needs two things that Cargo does not bring:
#   - its standard library:  rustup target add TARGET
#   - a C compiler for it (SQLite, zstd, ring and the grammars are C): musl-gcc (Debian: musl-tools) for x86_64 musl, and
#     aarch64-linux-musl-gcc or aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu) for aarch64. CC_<target> names another one.
# If a target lacks one of them, the script names it, builds the other targets, and ends with exit code 1.
#
# PROFILE=dev builds without optimisation, to test the script. SOURCE_DATE_EPOCH sets the time of the files in an archive; without it, it
# is the time of the last commit, so that the same commit gives the same archive.
set -euo pipefail
shopt -s inherit_errexit # a failure inside $(…) ends the script too
cd "$(dirname "$0")/.."

targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
profile=${PROFILE:-release}
folder=$profile; [ "$profile" != dev ] || folder=debug
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version *= *"\(.*\)"/\1/p' Cargo.toml)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
target_dir=${CARGO_TARGET_DIR:-target}
host=$(rustc -vV | sed -n 's/^host: //p')
missing=0

say() { echo "release: $*" >&2; }

# Succeeds if Rust's standard library for the target is installed.
has_std() {
    local libs
    libs=$(rustc --print target-libdir --target "$1" 2>/dev/null) && compgen -G "$libs/libstd-*" >/dev/null
}

# Prints the C compiler of a target: CC_<target>, or the first that is installed.
compiler() {
    local named="CC_${1//-/_}"
    if [ -n "${!named:-}" ]; then echo "${!named}"; return; fi
    local candidates=()
    case $1 in
        "$host") candidates=(cc gcc clang) ;;
        x86_64-*-musl) candidates=(x86_64-linux-musl-gcc musl-gcc) ;;
        aarch64-*-musl) candidates=(aarch64-linux-musl-gcc aarch64-linux-gnu-gcc) ;;
        aarch64-*-gnu) candidates=(aarch64-linux-gnu-gcc) ;;
    esac
    for candidate in ${candidates[@]+"${candidates[@]}"}; do
        if command -v "$candidate" >/dev/null; then echo "$candidate"; return; fi
    done
    return 1
}

# Prints a binary that this host can run: the one just built, or one built for the host.
runnable() {
    if "$1" --version >/dev/null 2>&1; then echo "$1"; return; fi
    cargo build --quiet --locked --package interlock-cli >&2
    echo "$target_dir/debug/interlock"
}

# Builds one target and packs its archive.
pack() {
    local target=$1 cc=$2 name="interlock-$version-$1"
    local upper built="$target_dir/$target/$folder" settings=() options=(--target "$target")
    upper=$(echo "${target//-/_}" | tr '[:lower:]' '[:upper:]')
    # The linker links what the C compiler built, so it is the same program. The host needs no settings.
    settings=("CC_${target//-/_}=$cc" "CARGO_TARGET_${upper}_LINKER=$cc")
    if [ "$target" = "$host" ]; then settings=() options=() built="$target_dir/$folder"; fi
    say "building $target with $cc"
    env ${settings[@]+"${settings[@]}"} \
        cargo build --quiet --locked --profile "$profile" ${options[@]+"${options[@]}"} --package interlock-cli
    local binary="$built/interlock" stage="dist/$name" tool
    case $target in
        *-musl) if readelf -d "$binary" | grep -q NEEDED; then say "$target: the binary is not static"; return 1; fi ;;
    esac
    tool=$(runnable "$binary")
    rm -rf "$stage" && mkdir -p "$stage/man" "$stage/completions"
    install -m 755 "$binary" "$stage/interlock"
    [ "$profile" = dev ] || strip "$stage/interlock" 2>/dev/null || say "$target: not stripped (no strip for this target)"
    cp README.md README.zh-CN.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage/"
    "$tool" man --out "$stage/man" 2>/dev/null
    "$tool" completions bash > "$stage/completions/interlock.bash"
    "$tool" completions zsh > "$stage/completions/_interlock"
    "$tool" completions fish > "$stage/completions/interlock.fish"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C dist -cf - "$name" | gzip -9n > "dist/$name.tar.gz"
    rm -rf "$stage"
    echo "dist/$name.tar.gz"
}

built=()
for target in "${targets[@]}"; do
    if ! has_std "$target"; then
        say "$target: not built, Rust's standard library for it is missing. Install it with: rustup target add $target"
        missing=1
    elif ! cc=$(compiler "$target"); then
        say "$target: not built, there is no C compiler for it. Name one in CC_${target//-/_}"
        missing=1
    else
        archive=$(pack "$target" "$cc")
        built+=("$archive")
    fi
done
for archive in ${built[@]+"${built[@]}"}; do echo "$archive"; done
if [ "${#built[@]}" -gt 0 ]; then (cd dist && sha256sum -- *.tar.gz > SHA256SUMS); fi
exit "$missing"
