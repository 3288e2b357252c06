module amana

go 1.24
