#!/usr/bin/env bash
# Installs packages with apt. On a fresh cloud machine another process installs updates after the start and holds the lock of
# the package manager; this script waits for it, at most INTERLOCK_SETUP_WAIT_S seconds (600).
set -euo pipefail
wait_s=${INTERLOCK_SETUP_WAIT_S:-600}
sudo=(); [ "$(id -u)" = 0 ] || sudo=(sudo --preserve-env=DEBIAN_FRONTEND,LC_ALL)
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt=("${sudo[@]}" apt-get -o "DPkg::Lock::Timeout=$wait_s" -qq)

# apt's own timeout does not cover the lock of the package lists, which `update` takes.
deadline=$((SECONDS + wait_s))
is_told=
until said=$("${apt[@]}" update 2>&1); do
    case $said in
        *"ould not get lock"*|*"nable to lock"*) ;;
        *) echo "$said" >&2; exit 1 ;;
    esac
    if [ "$SECONDS" -ge "$deadline" ]; then
        echo "setup: another process has held the package manager's lock for $wait_s s; try again when it has ended. $said" >&2
        exit 1
    fi
    [ -n "$is_told" ] || echo "setup: waits up to $wait_s s for another process that holds the package manager's lock" >&2
    is_told=1
    sleep 2
done
"${apt[@]}" install -y --no-install-recommends "$@"
