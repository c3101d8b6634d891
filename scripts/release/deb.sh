#!/usr/bin/env bash
# deb.sh STAGE TARGET VERSION GLIBC OUT: makes a Debian package of a release's files, and prints its path.
# GLIBC is the oldest version of the C library that the program runs with; empty for a static program.
set -euo pipefail
stage=$1 target=$2 version=$3 glibc=$4 out=$5
scripts=$(cd "$(dirname "$0")" && pwd)
case ${target%%-*} in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) arch=${target%%-*} ;; esac
# Git keeps the snapshots of a workspace, so no run works without it.
needs=git
[ -z "$glibc" ] || needs="libc6 (>= $glibc), libgcc-s1, $needs"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
share=$root/usr/share doc=$root/usr/share/doc/interlock

install -D -m 755 "$stage/interlock" "$root/usr/bin/interlock"
install -D -m 644 -t "$share/man/man1" "$stage"/man/*.1
gzip -9n "$share"/man/man1/*.1
install -D -m 644 "$stage/completions/interlock.bash" "$share/bash-completion/completions/interlock"
install -D -m 644 "$stage/completions/_interlock" "$share/zsh/vendor-completions/_interlock"
install -D -m 644 "$stage/completions/interlock.fish" "$share/fish/vendor_completions.d/interlock.fish"
install -D -m 644 -t "$doc" "$stage"/README*.md "$stage/interlock.cdx.json"
gzip -9nc "$stage/CHANGELOG.md" >"$doc/changelog.gz"
{ echo "Interlock $version is licensed under either of MIT or Apache-2.0, at your option."; cat "$stage"/LICENSE-*; } >"$doc/copyright"

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: interlock
Version: $version
Architecture: $arch
Maintainer: $(git -C "$scripts" log -1 --format='%an <%ae>')
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: $needs
Recommends: ca-certificates
Section: devel
Priority: optional
Description: runs agents as statecharts
 A machine file decides what happens next, a model only answers questions inside
 a state, and "interlock check" proves what the machine can and cannot do.
END
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f ! -path '*/bin/*' -exec chmod 644 {} +
[ -z "${FAST:-}" ] || set -- -Zgzip -z1
[ -n "${FAST:-}" ] || set -- -Zxz
dpkg-deb "$@" --root-owner-group --build "$root" "$out/interlock_${version}_$arch.deb" >/dev/null
echo "$out/interlock_${version}_$arch.deb"
