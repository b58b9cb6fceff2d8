<?php
// The front script of php-apache: plain PHP, which gets every request.

declare(strict_types=1);

require __DIR__ . '/../work/work.php';

$reply = answer(Work::fromEnvironment());
http_response_code($reply->status);
header("Content-Type: $reply->type");
echo $reply->body;

function answer(Work $work): Reply
{
    $path = explode('?', $_SERVER['REQUEST_URI'], 2)[0];
    if ($_SERVER['REQUEST_METHOD'] === 'POST' && $path === '/submit') {
        return $work->submit(fopen('php://input', 'r'), (int) ($_SERVER['CONTENT_LENGTH'] ?? 0));
    }
    if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD'], true)) {
        return not_found();
    }
    return match ($path) {
        '/' => $work->welcome(),
        '/rest/hello' => $work->hello(),
        '/index' => $work->index(),
        '/ping' => $work->ping(),
        '/hash' => $work->hash($_GET['n'] ?? null, $_GET['nonce'] ?? null),
        '/whoami' => $work->whoami(),
        default => with_parameter($work, $path),
    };
}

function with_parameter(Work $work, string $path): Reply
{
    if (preg_match('#^/(hello|user)/([^/]+)$#D', $path, $parts) !== 1) {
        return not_found();
    }
    $parameter = rawurldecode($parts[2]);
    return $parts[1] === 'hello' ? $work->greet($parameter) : $work->user($parameter);
}

function not_found(): Reply
{
    return new Reply(404, TEXT, "not found\n");
}
