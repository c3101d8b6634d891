is 'stem of a path' log "$(stem /var/log.txt)"
is 'stem without ending' log "$(stem log)"
