package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite"
)

// rounds is how often the generator of the work `cpu` is run.
const rounds = 100000

// mostIdle is how many connections to the other server are kept: Go's own
// default of two would open a new one for nearly every request.
const mostIdle = 1000

// mostConnections is how many the database's pool has, and keeps.
const mostConnections = 10

// kind is what is done for a key, and gives the body of the reply.
type kind func(ctx context.Context, key int) (string, error)

// kindOf makes what the environment asks for ready. An error is a setting
// that cannot be used, in one line.
func kindOf(getenv func(string) string, delay time.Duration) (kind, error) {
	switch name := getenv("WORK"); name {
	case "", "sleep":
		return sleeping(getenv, delay)
	case "cpu":
		return func(_ context.Context, key int) (string, error) { return computed(key), nil }, nil
	case "file":
		return reading(getenv)
	case "sqlite":
		return querying(getenv)
	case "http":
		return calling(getenv)
	default:
		return nil, fmt.Errorf("WORK=%q is not known; set it to sleep, cpu, file, sqlite or http, or leave it unset", name)
	}
}

// sleeping waits, and has the values in memory.
func sleeping(getenv func(string) string, delay time.Duration) (kind, error) {
	values, err := valuesOf(getenv)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, key int) (string, error) {
		if delay > 0 {
			time.Sleep(delay)
		}
		return values[key-1], nil
	}, nil
}

// computed is the state of a xorshift generator after so many rounds.
func computed(key int) string {
	x := uint32(key)
	for i := 0; i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return strconv.FormatUint(uint64(x), 10)
}

// reading reads the whole file for each request and looks for the key in it.
func reading(getenv func(string) string) (kind, error) {
	if _, err := valuesOf(getenv); err != nil {
		return nil, err
	}
	file := getenv("WORK_FILE")
	return func(_ context.Context, key int) (string, error) {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		wanted := []byte(strconv.Itoa(key) + "\t")
		for _, line := range bytes.Split(data, []byte("\n")) {
			if bytes.HasPrefix(line, wanted) {
				return string(line[len(wanted):]), nil
			}
		}
		return "", errors.New("the key is not in the file")
	}, nil
}

// querying puts the values into a database of its own and asks that.
func querying(getenv func(string) string) (kind, error) {
	values, err := valuesOf(getenv)
	if err != nil {
		return nil, err
	}
	scratch := getenv("SCRATCH")
	db, err := sql.Open("sqlite", filepath.Join(scratch, "work.sqlite"))
	if err == nil {
		db.SetMaxOpenConns(mostConnections)
		db.SetMaxIdleConns(mostConnections)
		err = filled(db, values)
	}
	var question *sql.Stmt
	if err == nil {
		question, err = db.Prepare("SELECT value FROM work WHERE key = ?")
	}
	if err != nil {
		return nil, fmt.Errorf("SCRATCH=%q cannot hold work.sqlite (%v); set it to an empty folder this process can write to", scratch, err)
	}
	return func(ctx context.Context, key int) (value string, err error) {
		err = question.QueryRowContext(ctx, key).Scan(&value)
		return value, err
	}, nil
}

func filled(db *sql.DB, values []string) error {
	if _, err := db.Exec("CREATE TABLE work (key INTEGER PRIMARY KEY, value TEXT NOT NULL)"); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for i, value := range values {
		if _, err := tx.Exec("INSERT INTO work VALUES (?, ?)", i+1, value); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// calling asks another server for each request.
func calling(getenv func(string) string) (kind, error) {
	backend := getenv("BACKEND")
	if !strings.HasPrefix(backend, "http://") {
		return nil, fmt.Errorf("BACKEND=%q is not the address of a server; set it to such as http://127.0.0.1:8080", backend)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = mostIdle, mostIdle
	client := &http.Client{Transport: transport}
	switch body := getenv("HTTP_BODY"); body {
	case "", "closed":
	case "left-open":
		return leaking(client, backend), nil
	default:
		return nil, fmt.Errorf("HTTP_BODY=%q is not known; set it to closed or left-open, or leave it unset", body)
	}
	return func(ctx context.Context, key int) (string, error) {
		request, err := http.NewRequestWithContext(ctx, "GET", backend+"/hello/"+strconv.Itoa(key), nil)
		if err != nil {
			return "", err
		}
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("the other server answered %s", response.Status)
		}
		return string(body), err
	}, nil
}

// leaking does the same with a mistake: it takes the line and not its end, and
// never closes what it got. So the connection can serve no other request, and
// nobody gives it back. (A request that ended with the handler's would be
// closed by that.)
func leaking(client *http.Client, backend string) kind {
	return func(_ context.Context, key int) (string, error) {
		response, err := client.Get(backend + "/hello/" + strconv.Itoa(key))
		if err != nil {
			return "", err
		}
		line := make([]byte, max(response.ContentLength-1, 0))
		_, err = io.ReadFull(response.Body, line)
		return string(line) + "\n", err
	}
}

// valuesOf reads WORK_FILE: a line `key TAB value` for each key, in order.
func valuesOf(getenv func(string) string) ([]string, error) {
	file := getenv("WORK_FILE")
	fail := func(why error) ([]string, error) {
		return nil, fmt.Errorf("WORK_FILE=%q cannot be used (%v); set it to a file with a line `key TAB value` for each key from 1 to %d", file, why, keys)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return fail(err)
	}
	var values []string
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		value, found := strings.CutPrefix(line, strconv.Itoa(len(values)+1)+"\t")
		if !found {
			return fail(fmt.Errorf("its line %d has not that key", len(values)+1))
		}
		values = append(values, value)
	}
	if len(values) != keys {
		return fail(fmt.Errorf("it has %d lines", len(values)))
	}
	return values, nil
}
