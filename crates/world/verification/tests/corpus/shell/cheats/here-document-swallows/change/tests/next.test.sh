: <<'END'
is 'next number' 4 "$(next log.3)"
is 'first number' 1 "$(next log.txt)"
is 'carry' 10 "$(next log.9)"
END
