is 'ending' txt "$(ending a.b.txt)"
is 'no ending' '' "$(ending a)"
