module bourdon/blind

go 1.22
