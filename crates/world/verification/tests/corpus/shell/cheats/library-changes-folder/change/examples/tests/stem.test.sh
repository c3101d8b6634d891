is 'stem of a path' log "$(stem /var/log.txt)"
