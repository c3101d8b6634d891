#!/usr/bin/env bash
# Builds the files of a release into dist/, per target:
#   interlock-VERSION-TARGET.tar.gz       an archive
#   interlock_VERSION_ARCH.deb            for Debian and Ubuntu
#   interlock_cli-VERSION-….whl           for pip, pipx and uv
#   interlock-cli-linux-CPU-VERSION.tgz   for npm; interlock-cli-VERSION.tgz chooses among them
#   interlock-VERSION-TARGET.cdx.json     the parts of the program (CycloneDX)
# and SHA256SUMS. All packages of a target contain the same program, manual pages, shell completions and licences.
#
#   scripts/release.sh [TARGET…]       default: x86_64 and aarch64 Linux, linked statically with musl; `host` is this computer's target
#
# A target needs two things that Cargo does not bring:
#   - its standard library:  rustup target add TARGET
#   - a C compiler for it (SQLite, zstd, ring and the grammars are C): musl-gcc (Debian: musl-tools) for x86_64 musl, and
#     aarch64-linux-musl-gcc or aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu) for aarch64. CC_<target> names another one.
# If a target lacks one of them, the script names it, builds the other targets, and ends with exit code 1. Packages need python3 and,
# for Debian, dpkg-deb.
#
# PROFILE=dev builds without optimisation and compresses little, to test the script; BINARY=FILE packs that program for the host instead
# of building one. DIST names another directory. SOURCE_DATE_EPOCH sets the time of the files; without it, it is the time of the last
# commit, so that the same commit gives the same files.
set -euo pipefail
shopt -s inherit_errexit # a failure inside $(…) ends the script too
cd "$(dirname "$0")/.."

targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
profile=${PROFILE:-release}
folder=$profile; [ "$profile" != dev ] || folder=debug
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version *= *"\(.*\)"/\1/p' Cargo.toml)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
dist=${DIST:-dist}
level=9; [ "$profile" != dev ] || { level=1; export FAST=1; }
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

# Builds the program for a target and prints its path.
build() {
    local target=$1 cc=$2 built="$target_dir/$1/$folder" settings=() options=(--target "$1")
    if [ -n "${BINARY:-}" ]; then echo "$BINARY"; return; fi
    # The linker links what the C compiler built, so it is the same program. The host needs no settings.
    settings=("CC_${target//-/_}=$cc" "CARGO_TARGET_$(echo "${target//-/_}" | tr '[:lower:]' '[:upper:]')_LINKER=$cc")
    if [ "$target" = "$host" ]; then settings=() options=() built="$target_dir/$folder"; fi
    say "building $target with $cc"
    env ${settings[@]+"${settings[@]}"} \
        cargo build --quiet --locked --profile "$profile" ${options[@]+"${options[@]}"} --package interlock-cli
    echo "$built/interlock"
}

# Puts the files of all packages of a target into a directory.
stage() {
    local target=$1 binary=$2 stage=$3 tool
    tool=$(runnable "$binary")
    rm -rf "$stage" && mkdir -p "$stage/man" "$stage/completions"
    install -m 755 "$binary" "$stage/interlock"
    # The release profile leaves nothing to strip.
    [ "$profile" != dev ] || strip "$stage/interlock"
    cp README.md README.zh-CN.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage/"
    "$tool" man --out "$stage/man" 2>/dev/null
    "$tool" completions bash > "$stage/completions/interlock.bash"
    "$tool" completions zsh > "$stage/completions/_interlock"
    "$tool" completions fish > "$stage/completions/interlock.fish"
    scripts/release/parts.py "$target" "$stage/interlock.cdx.json"
}

# Prints the oldest version of the C library that a program runs with; nothing for a static program.
glibc() { readelf --dyn-syms --wide "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 | cut -d_ -f2 || true; }

# Builds one target and packs it.
pack() {
    local target=$1 name="interlock-$version-$1" binary stage glibc
    binary=$(build "$target" "$2")
    glibc=$(glibc "$binary")
    case $target in
        *-musl) [ -z "$glibc" ] || { say "$target: the program is not static"; return 1; } ;;
    esac
    stage=$dist/$name
    stage "$target" "$binary" "$stage"
    cp "$stage/interlock.cdx.json" "$dist/$name.cdx.json" && echo "$dist/$name.cdx.json"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$dist" -cf - "$name" | gzip "-${level}n" > "$stage.tar.gz"
    echo "$stage.tar.gz"
    scripts/release/deb.sh "$stage" "$target" "$version" "$glibc" "$dist"
    scripts/release/wheel.py "$stage" "$target" "$version" "$glibc" "$dist"
    scripts/release/npm.py platform "$stage" "$target" "$version" "$glibc" "$dist"
}

# Packs the npm package that chooses among the packages of the platforms.
front() {
    local stage=$dist/interlock-$version-$1 names=()
    for file in "$dist"/interlock-cli-linux-*-"$version.tgz"; do names+=("$(basename "$file" "-$version.tgz")"); done
    scripts/release/npm.py front "$stage" "$version" "$dist" "${names[@]}"
}

built=()
for tool in python3 dpkg-deb readelf; do
    command -v "$tool" >/dev/null || { say "$tool is missing, which packages are made with"; exit 1; }
done
mkdir -p "$dist"
for target in "${targets[@]}"; do
    [ "$target" != host ] || target=$host
    if ! has_std "$target"; then
        say "$target: not built, Rust's standard library for it is missing. Install it with: rustup target add $target"
        missing=1
    elif ! cc=$(compiler "$target"); then
        say "$target: not built, there is no C compiler for it. Name one in CC_${target//-/_}"
        missing=1
    else
        pack "$target" "$cc"
        built+=("$target")
    fi
done
if [ "${#built[@]}" -gt 0 ]; then
    front "${built[0]}"
    for target in "${built[@]}"; do rm -rf "$dist/interlock-$version-$target"; done
    (cd "$dist" && sha256sum -- *.tar.gz *.deb *.whl *.tgz *.cdx.json > SHA256SUMS)
fi
exit "$missing"
