<?php
// php fill.php FILE DATABASE: puts the lines `key TAB value` of a file into a table of a new SQLite database.

declare(strict_types=1);

[, $file, $database] = $argv;
$lines = file($file, FILE_IGNORE_NEW_LINES);
if ($lines === false || !str_contains($lines[0] ?? '', "\t")) {
    fwrite(STDERR, "$file has no lines `key TAB value`\n");
    exit(1);
}
$db = new PDO("sqlite:$database");
$db->exec('CREATE TABLE work (key INTEGER PRIMARY KEY, value TEXT NOT NULL)');
$db->beginTransaction();
$row = $db->prepare('INSERT INTO work VALUES (?, ?)');
foreach ($lines as $line) {
    $row->execute(explode("\t", $line, 2));
}
$db->commit();
