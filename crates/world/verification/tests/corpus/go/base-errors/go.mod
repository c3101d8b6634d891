module example.com/ages

go 1.19
