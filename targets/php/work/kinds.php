<?php
// The kinds of work that a handler may do, each as plain PHP has it: what is needed is opened anew for each request, but for
// a database that is asked to stay.

declare(strict_types=1);

/** How many keys there are: 1 and up. */
const KEYS = 1000;

/** How often the generator of the work `cpu` is run. */
const ROUNDS = 100_000;

/** Does one kind of work. */
final class Kinds
{
    /** The launch script has looked at the settings. */
    public static function fromEnvironment(): self
    {
        return new self(
            (string) getenv('WORK'),
            (int) getenv('HANDLER_DELAY_US'),
            (string) getenv('WORK_FILE'),
            (string) getenv('WORK_DATABASE'),
            (string) getenv('BACKEND'),
            getenv('CONNECTION') === 'persistent',
        );
    }

    public function __construct(
        private readonly string $kind,
        private readonly int $delay_us,
        private readonly string $file,
        private readonly string $database,
        private readonly string $backend,
        private readonly bool $stays = false,
    ) {
    }

    /** GET /work?key=K */
    public function reply(mixed $key): Reply
    {
        $number = is_string($key) && preg_match('/^\d{1,4}$/D', $key) ? (int) $key : 0;
        if ($number < 1 || $number > KEYS) {
            return new Reply(400, TEXT, 'key must be a whole number from 1 to ' . KEYS . "\n");
        }
        try {
            return new Reply(200, TEXT, $this->value($number));
        } catch (RuntimeException $failure) {
            return new Reply(500, TEXT, 'the work failed: ' . $failure->getMessage() . "\n");
        }
    }

    private function value(int $key): string
    {
        return match ($this->kind) {
            'cpu' => computed($key),
            'file' => in_file($this->file, $key),
            'sqlite' => $this->in_database($key),
            'http' => $this->from_backend($key),
            default => $this->after_a_while($key),
        };
    }

    /** Reads the value beforehand: PHP has nothing in memory from one request to the next. */
    private function after_a_while(int $key): string
    {
        $until = hrtime(true) + $this->delay_us * 1000;
        // The signal that tells a worker to stop wakes it too.
        for ($left = $this->delay_us; $left > 0; $left = intdiv($until - hrtime(true), 1000)) {
            usleep($left);
        }
        return in_file($this->file, $key);
    }

    private function in_database(int $key): string
    {
        $options = [PDO::SQLITE_ATTR_OPEN_FLAGS => PDO::SQLITE_OPEN_READONLY, PDO::ATTR_PERSISTENT => $this->stays];
        $question = (new PDO("sqlite:$this->database", options: $options))
            ->prepare('SELECT value FROM work WHERE key = ?');
        $question->execute([$key]);
        $value = $question->fetchColumn();
        return $value === false ? throw new RuntimeException('the key is not in the table') : $value;
    }

    private function from_backend(int $key): string
    {
        $body = @file_get_contents("$this->backend/hello/$key");
        return $body === false ? throw new RuntimeException('the other server did not answer') : $body;
    }
}

/** The state of a xorshift generator after so many rounds. */
function computed(int $key): string
{
    $x = $key;
    for ($round = 0; $round < ROUNDS; $round++) {
        $x ^= ($x << 13) & 0xffffffff;
        $x ^= $x >> 17;
        $x ^= ($x << 5) & 0xffffffff;
    }
    return (string) $x;
}

/** Reads the whole file and looks for the key in it. */
function in_file(string $file, int $key): string
{
    $lines = @file($file, FILE_IGNORE_NEW_LINES);
    foreach ($lines === false ? throw new RuntimeException('the file cannot be read') : $lines as $line) {
        if (str_starts_with($line, "$key\t")) {
            return substr($line, strlen("$key\t"));
        }
    }
    throw new RuntimeException('the key is not in the file');
}
