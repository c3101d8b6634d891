test "$(python3 -B greet.py --upper bob)" = 'HELLO BOB'
test "$(python3 -B greet.py bob)" = 'hello bob'
