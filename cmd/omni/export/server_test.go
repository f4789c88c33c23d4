//go:build postgres

package export_test

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// server is a PostgreSQL server of the test's own, in a directory of its own, that
// listens on a socket there and nowhere else. It is never run by root.
type server struct {
	t    *testing.T
	bin  string
	dir  string
	as   *syscall.SysProcAttr
	work *exec.Cmd
}

func newServer(t *testing.T) *server {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "omnipg") // a socket's path is short
	require.NoError(t, err)
	s := &server{t: t, bin: binaries(t), dir: dir, as: &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}}
	t.Cleanup(func() {
		s.kill()
		require.NoError(t, os.RemoveAll(dir))
	})
	if os.Getuid() == 0 {
		other, err := user.Lookup("postgres") // the package made it
		require.NoError(t, err)
		uid, err := strconv.ParseUint(other.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(other.Gid, 10, 32)
		require.NoError(t, err)
		require.NoError(t, os.Chown(dir, int(uid), int(gid)))
		s.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	made := s.command("initdb", "-D", s.data(), "-U", "omni", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	out, err := made.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.start()
	return s
}

// binaries finds where the server's programs are: the newest, where there are
// several.
func binaries(t *testing.T) string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	require.NoError(t, err)
	require.NotEmpty(t, found, "there is no PostgreSQL server: cmd/omni/export/install")
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir, c.SysProcAttr, c.Env = s.dir, s.as, []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	return c
}

// start runs the server until it lets somebody in.
func (s *server) start() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(s.t, err)
	defer log.Close()
	// What a killed process had written is there without fsync, too.
	s.work = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=20")
	s.work.Stdout, s.work.Stderr = log, log
	require.NoError(s.t, s.work.Start())
	require.Eventually(s.t, func() bool {
		conn, err := pgx.Connect(s.t.Context(), s.dsn())
		if err != nil {
			return false
		}
		return conn.Close(s.t.Context()) == nil
	}, 30*time.Second, 20*time.Millisecond)
}

// kill ends the server and everything that it does, in the middle of it.
func (s *server) kill() {
	if s.work == nil {
		return
	}
	_ = s.work.Process.Signal(syscall.SIGQUIT) // "immediate": as after a crash
	_ = s.work.Wait()
	s.work = nil
}

func (s *server) dsn() string {
	return "host=" + s.dir + " user=omni dbname=postgres connect_timeout=5"
}

// connect gives a connection for the test to look with.
func (s *server) connect() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.dsn())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
