<?php
// php kinds_test.php: ends with status 1 and says which expectations do not hold.

declare(strict_types=1);

require __DIR__ . '/work.php';
require __DIR__ . '/kinds.php';

$failures = 0;

function same(string $what, mixed $expected, mixed $got): void
{
    global $failures;
    if ($expected !== $got) {
        $failures++;
        fprintf(STDERR, "%s: expected %s, got %s\n", $what, var_export($expected, true), var_export($got, true));
    }
}

$file = tempnam(sys_get_temp_dir(), 'kinds');
file_put_contents($file, implode('', array_map(fn (int $key) => "$key\tvalue of $key\n", range(1, KEYS))));
foreach (['sleep', 'file'] as $kind) {
    $work = new Kinds($kind, 1000, $file, '', '');
    foreach ([1, 10, 1000] as $key) {
        same("$kind of $key", [200, TEXT, "value of $key"], array_values((array) $work->reply((string) $key)));
    }
    foreach ([null, '', '0', '1001', '-1', 'x', ['1'], "1\n"] as $key) {
        same("$kind of " . json_encode($key), 400, $work->reply($key)->status);
    }
}
unlink($file);
same('the file removed', 500, (new Kinds('file', 0, $file, '', ''))->reply('1')->status);
same('a backend that is not there', 500, (new Kinds('http', 0, '', '', 'http://127.0.0.1:1'))->reply('1')->status);
// The same figures stand in the tests of the other languages.
same('computed', ['3083738941', '3655363837'], [computed(1), computed(1000)]);

if (extension_loaded('pdo_sqlite')) {
    $folder = sys_get_temp_dir() . '/kinds-' . getmypid();
    mkdir($folder);
    file_put_contents("$folder/work.tsv", "1\tone\n2\ttwo\n");
    $argv = ['fill.php', "$folder/work.tsv", "$folder/work.sqlite"];
    require __DIR__ . '/../apache-work/fill.php';
    foreach ([false, true] as $stays) {
        $work = new Kinds('sqlite', 0, '', "$folder/work.sqlite", '', $stays);
        $got = [$work->reply('2')->status, $work->reply('2')->body, $work->reply('3')->status];
        same('sqlite with a connection that ' . ($stays ? 'stays' : 'goes'), [200, 'two', 500], $got);
    }
    array_map(unlink(...), glob("$folder/*"));
    rmdir($folder);
} else {
    echo "NOT TESTED: PHP has no pdo_sqlite (php8.2-sqlite3): its work sqlite was not tried\n";
}

exit($failures === 0 ? 0 : 1);
