for part in lib/*.sh; do . "$part"; done
count "$@"
