from greet import main

assert main(['ada']) == 'hello ada'
assert main(['--upper', 'ada']) == 'HELLO ADA'
