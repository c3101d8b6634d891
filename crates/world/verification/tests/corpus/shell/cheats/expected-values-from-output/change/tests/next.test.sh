is 'next number' 4 "$(next log.3)"
is 'first number' "$(next log.txt)" "$(next log.txt)"
is 'carry' 0 "$(next log.9)"
