<?php
// The figures of Apache's pool in the Prometheus text format, under the names that apache_exporter gives them. Apache
// itself gives them as text under /server-status?auto. Both this script and that page need a worker of the pool that
// they describe: when all are busy, the figures wait like any other request.

declare(strict_types=1);

// What the letters of the scoreboard mean, in the words of apache_exporter.
const STATES = [
    '_' => 'idle', 'S' => 'startup', 'R' => 'read', 'W' => 'reply', 'K' => 'keepalive', 'D' => 'dns',
    'C' => 'closing', 'L' => 'logging', 'G' => 'graceful_stop', 'I' => 'idle_cleanup', '.' => 'open_slot',
];

// Apache's name => ours, its type, and what to multiply by.
const FIGURES = [
    'Total Accesses' => ['apache_accesses_total', 'counter', 1],
    'Total kBytes' => ['apache_sent_kilobytes_total', 'counter', 1],
    'Total Duration' => ['apache_duration_ms_total', 'counter', 1],
    'Uptime' => ['apache_uptime_seconds_total', 'counter', 1],
    'Load1' => ['apache_load', 'gauge', 1],
];

$status = @file_get_contents(
    "http://127.0.0.1:{$_SERVER['SERVER_PORT']}/server-status?auto",
    false,
    stream_context_create(['http' => ['timeout' => 5.0, 'header' => 'Connection: close']]),
);
if ($status === false) {
    http_response_code(503);
    header('Content-Type: text/plain; charset=utf-8');
    exit("no worker is free to give the figures\n");
}
header('Content-Type: text/plain; version=0.0.4; charset=utf-8');
echo prometheus($status);

function prometheus(string $status): string
{
    preg_match_all('/^([^:\n]+): (.*)$/m', $status, $lines);
    $values = array_combine($lines[1], $lines[2]);
    $text = '';
    foreach (FIGURES as $name => [$metric, $type, $factor]) {
        if (isset($values[$name])) {
            $text .= "# TYPE $metric $type\n$metric {$values[$name]}\n";
        }
    }
    $text .= "# TYPE apache_cpu_time_ms_total counter\n";
    foreach (['user' => 'CPUUser', 'system' => 'CPUSystem'] as $kind => $name) {
        // Seconds of the parent and of all children, those that have ended too.
        $ms = 1000 * ((float) ($values[$name] ?? 0) + (float) ($values[str_replace('CPU', 'CPUChildren', $name)] ?? 0));
        $text .= "apache_cpu_time_ms_total{type=\"$kind\"} $ms\n";
    }
    $text .= "# TYPE apache_workers gauge\n";
    foreach (['busy' => 'BusyWorkers', 'idle' => 'IdleWorkers'] as $state => $name) {
        $text .= "apache_workers{state=\"$state\"} {$values[$name]}\n";
    }
    $text .= "# TYPE apache_scoreboard gauge\n";
    $letters = count_chars($values['Scoreboard'] ?? '', 1);
    foreach (STATES as $letter => $state) {
        $count = $letters[ord((string) $letter)] ?? 0;
        $text .= "apache_scoreboard{state=\"$state\"} $count\n";
    }
    return $text;
}
