module example.com/wordcount

go 1.19

require example.com/check v1.0.0
