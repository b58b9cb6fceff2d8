<?php
// php work_test.php: ends with status 1 and says which expectations do not hold.

declare(strict_types=1);

require __DIR__ . '/work.php';

$failures = 0;

function same(string $what, mixed $expected, mixed $got): void
{
    global $failures;
    if ($expected !== $got) {
        $failures++;
        $show = fn (mixed $value) => substr(var_export($value, true), 0, 200);
        fprintf(STDERR, "%s: expected %s, got %s\n", $what, $show($expected), $show($got));
    }
}

function reply(string $what, int $status, string $type, string $body, Reply $got): void
{
    same($what, [$status, $type, $body], [$got->status, $got->type, $got->body]);
}

/** Submits a text as a body whose length is not announced. */
function submit(string $text): Reply
{
    $body = fopen('php://memory', 'r+');
    fwrite($body, $text);
    rewind($body);
    return (new Work(0, ''))->submit($body, 0);
}

$work = new Work(0, '');
reply('/', 200, 'text/plain; charset=utf-8', "Welcome!\n", $work->welcome());
reply('/rest/hello', 200, TEXT, 'Hello world', $work->hello());
reply('/index', 200, TEXT, "index\n", $work->index());
reply('/hello/ann', 200, TEXT, "hello, ann!\n", $work->greet('ann'));
reply('/ping', 200, 'application/json', '{"message":"pong"}', $work->ping());
reply('/user/42', 200, JSON, '{"id":"42","name":"User"}', $work->user('42'));
reply('/user/ markup', 200, JSON, '{"id":"<&>é","name":"User"}', $work->user('<&>é'));
foreach (['a"b\\c', "tab\tline\n", "\0"] as $id) {
    same('/user/ read back', ['id' => $id, 'name' => 'User'], json_decode($work->user($id)->body, true));
}
same('/whoami', 'process ' . getmypid(), $work->whoami()->body);

$delayed = new Work(20_000, '');
foreach (['hello', 'index'] as $handler) {
    $start = hrtime(true);
    $delayed->$handler();
    same("$handler waits", true, hrtime(true) - $start >= 20_000_000);
}

$largest = '"' . str_repeat('x', SUBMIT_LIMIT - 2) . '"';
$deep = str_repeat('[', 1000) . str_repeat(']', 1000); // PHP's parser gives up at some thousands
foreach (['{"a": [1, 2.50,null]}', " \n[ ]\n", '"x"', '0', "{\"\\u0000\":1}", $deep, $largest] as $text) {
    reply('/submit', 200, JSON, $text, submit($text));
}
foreach (['', '{', '{}{}', 'nope'] as $text) {
    same("/submit $text", 400, submit($text)->status);
}
same('/submit too large', 413, submit($largest . ' ')->status);
same('/submit announced as too large', 413, $work->submit(fopen('php://memory', 'r'), SUBMIT_LIMIT + 1)->status);

$file = tempnam(sys_get_temp_dir(), 'work');
file_put_contents($file, "some data\n");
$hashing = new Work(0, $file);
foreach ([['1', null, 1], ['3', 'é&1', 3], ['100000', 'x', 100_000]] as [$n, $nonce, $passes]) {
    $digest = hash('sha256', str_repeat("some data\n", $passes) . $nonce);
    reply("/hash?n=$n", 200, TEXT, $digest, $hashing->hash($n, $nonce));
}
foreach (['openssl', 'php-at-once'] as $by) {
    $at_once = new Work(0, $file, digest: $by);
    foreach ([['1', null, 1], ['500', 'é&1', 500]] as [$n, $nonce, $passes]) {
        $digest = hash('sha256', str_repeat("some data\n", $passes) . $nonce);
        reply("/hash?n=$n by $by", 200, TEXT, $digest, $at_once->hash($n, $nonce));
    }
    same("/hash by $by with more than fits", 400, $at_once->hash('501', '')->status);
}
foreach ([null, '', '0', '-1', '+1', '1.5', "1\n", '100001', '99999999999999999999', 'x', ['1']] as $n) {
    same('/hash?n=' . json_encode($n), 400, $hashing->hash($n, '')->status);
}
same('/hash without a file', 503, $work->hash('1', '')->status);
unlink($file);
same('/hash, the file removed', 500, $hashing->hash('1', '')->status);

exit($failures === 0 ? 0 : 1);
