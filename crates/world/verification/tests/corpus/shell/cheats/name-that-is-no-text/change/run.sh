for part in lib/*.sh; do . "$part"; done
set -- "$@"
count "$@"
