module example.com/wordcount/count

go 1.19
