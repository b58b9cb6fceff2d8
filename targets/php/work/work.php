<?php
// What each endpoint answers, for all PHP targets. A target's own front script adds only its framework, so that a
// difference between two targets is a difference between their frameworks.

declare(strict_types=1);

const TEXT = 'text/plain; charset=utf-8';
const JSON = 'application/json';

/** The largest body /submit takes, in bytes. */
const SUBMIT_LIMIT = 1 << 20;

/** The largest number of passes /hash makes. */
const HASH_LIMIT = 100_000;

/** And where all bytes are given at once, as OpenSSL wants them: half of what PHP may use by default. */
const AT_ONCE_LIMIT = 500;

/** What a handler answers. */
final class Reply
{
    public function __construct(public readonly int $status, public readonly string $type, public readonly string $body)
    {
    }
}

/** Makes the replies. PHP starts anew for each request, so one is made for each. */
final class Work
{
    /** The launch script has read the settings and hands them on in the form that is needed here. */
    public static function fromEnvironment(): self
    {
        $renders = getenv('RENDERING') === 'framework';
        $digest = getenv('DIGEST') ?: 'php';
        return new self((int) getenv('HANDLER_DELAY_US'), (string) getenv('DATA_FILE'), $renders, $digest);
    }

    public function __construct(
        private readonly int $delay_us,
        private readonly string $data_file,
        private readonly bool $renders = false,
        private readonly string $digest = 'php',
    ) {
    }

    /** GET / */
    public function welcome(): Reply
    {
        return new Reply(200, TEXT, "Welcome!\n");
    }

    /** GET /rest/hello, after the handler delay. */
    public function hello(): Reply
    {
        $this->wait();
        return new Reply(200, TEXT, 'Hello world');
    }

    /** GET /index, after the handler delay. */
    public function index(): Reply
    {
        $this->wait();
        return new Reply(200, TEXT, "index\n");
    }

    private function wait(): void
    {
        $until = hrtime(true) + $this->delay_us * 1000;
        // The signal that tells a worker to stop wakes it too.
        for ($left = $this->delay_us; $left > 0; $left = intdiv($until - hrtime(true), 1000)) {
            usleep($left);
        }
    }

    /** GET /hello/:name */
    public function greet(string $name): Reply
    {
        return new Reply(200, TEXT, "hello, $name!\n");
    }

    /** GET /user/:id */
    public function user(string $id): Reply
    {
        $flags = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR;
        return new Reply(200, JSON, json_encode(['id' => $id, 'name' => 'User'], $flags));
    }

    /** GET /ping */
    public function ping(): Reply
    {
        return new Reply(200, JSON, $this->renders ? json_encode(['message' => 'pong']) : '{"message":"pong"}');
    }

    /**
     * POST /submit: the body itself if it is JSON.
     *
     * @param resource $body
     */
    public function submit($body, int $length): Reply
    {
        // PHP throws away a body over its post_max_size, so the length that was announced is looked at as well.
        $text = $length > SUBMIT_LIMIT ? null : stream_get_contents($body, SUBMIT_LIMIT + 1);
        if ($text === null || strlen((string) $text) > SUBMIT_LIMIT) {
            return new Reply(413, TEXT, "the body is larger than 1 MiB\n");
        }
        json_decode((string) $text, true, 0x7fffffff);
        if (json_last_error() !== JSON_ERROR_NONE) {
            return new Reply(400, TEXT, "the body is not valid JSON\n");
        }
        return new Reply(200, JSON, $text);
    }

    /**
     * GET /hash?n=N&nonce=X: the SHA-256 of N copies of the data file followed by the nonce. The file is read once;
     * every copy is really hashed.
     */
    public function hash(mixed $n, mixed $nonce): Reply
    {
        if ($this->data_file === '') {
            return new Reply(503, TEXT, "DATA_FILE is not set; start the target with DATA_FILE naming a file to hash\n");
        }
        $passes = is_string($n) && preg_match('/^\d{1,9}$/D', $n) ? (int) $n : 0;
        $most = $this->digest === 'php' ? HASH_LIMIT : AT_ONCE_LIMIT;
        if ($passes < 1 || $passes > $most) {
            return new Reply(400, TEXT, "n must be a whole number from 1 to $most\n");
        }
        $data = @file_get_contents($this->data_file);
        if ($data === false) {
            return new Reply(500, TEXT, "DATA_FILE can no longer be read\n");
        }
        set_time_limit(0); // many passes take longer than the 30 s that PHP allows
        $nonce = is_string($nonce) ? $nonce : '';
        if ($this->digest !== 'php') {
            $all = str_repeat($data, $passes);
            // Without a copy more where there is nothing to add.
            $all = $nonce === '' ? $all : $all . $nonce;
            return new Reply(200, TEXT, $this->digest === 'openssl' ? openssl_digest($all, 'sha256') : hash('sha256', $all));
        }
        $hash = hash_init('sha256');
        for ($pass = 0; $pass < $passes; $pass++) {
            hash_update($hash, $data);
        }
        hash_update($hash, $nonce);
        return new Reply(200, TEXT, hash_final($hash));
    }

    /** GET /whoami: the process, which serves one request at a time. */
    public function whoami(): Reply
    {
        return new Reply(200, TEXT, 'process ' . getmypid());
    }
}
