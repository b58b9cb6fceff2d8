<?php
// The front script of php-apache-work: one kind of work behind one path.

declare(strict_types=1);

require __DIR__ . '/../work/work.php';
require __DIR__ . '/../work/kinds.php';

$reply = answer(explode('?', $_SERVER['REQUEST_URI'], 2)[0]);
http_response_code($reply->status);
header("Content-Type: $reply->type");
echo $reply->body;

function answer(string $path): Reply
{
    if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD'], true)) {
        return new Reply(404, TEXT, "not found\n");
    }
    return match ($path) {
        '/ping' => Work::fromEnvironment()->ping(),
        '/work' => Kinds::fromEnvironment()->reply($_GET['key'] ?? null),
        default => new Reply(404, TEXT, "not found\n"),
    };
}
