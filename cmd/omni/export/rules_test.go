package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Every rule is about a kind of record that there is, and gives its statement as
// many arguments as it takes; every statement may be executed again.
func TestRules(t *testing.T) {
	known := make(map[string]bool)
	for kind := range bus.Kind(bus.Last + 1) {
		known[kernel.KindName(kind)] = true
	}
	for _, rule := range rules {
		assert.True(t, known[rule.kind], rule.kind)
		args, err := rule.args(&api.Record{BusSeq: 7, Kind: rule.kind, Body: json.RawMessage(`{}`)})
		require.NoError(t, err)
		most := 0
		for _, found := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(rule.sql, -1) {
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			most = max(most, n)
		}
		assert.Equal(t, most, len(args)+2, rule.sql)
		assert.Regexp(t, `ON CONFLICT DO NOTHING$|(bus_seq|state_seq) < \$2$`, rule.sql)
		_, err = rule.args(&api.Record{BusSeq: 7, Kind: rule.kind, Body: json.RawMessage(`[]`)})
		assert.ErrorContains(t, err, "record 7", rule.kind)
		assert.False(t, passing(err), "it would not read better later")
	}
	assert.Equal(t, []string{
		"AGENT_DEFINED", "FORKED", "LIFECYCLE", "RUN_DEFINED", "RUN_PLANNED", "RUN_TASK_COMPLETED", "RUN_TASK_FAILED", "RUN_TASK_STARTED",
		"RUN_TRANSITION", "TOKEN_ISSUED",
	}, Kinds())
}

// What PostgreSQL cannot take is replaced, and nothing else.
func TestCleanJSON(t *testing.T) {
	for from, want := range map[string]string{
		`{"a":"b"}`: `{"a":"b"}`, `"x\u0000"`: `"x\ufffd"`, `"\\u0000"`: `"\\u0000"`, `"\\\u0000\u0000"`: `"\\\ufffd\ufffd"`, `"\u00001"`: `"\ufffd1"`, ``: ``,
	} {
		assert.Equal(t, want, cleanJSON(json.RawMessage(from)), from)
		if from != "" {
			var one, other string
			if json.Unmarshal([]byte(from), &one) == nil {
				require.NoError(t, json.Unmarshal([]byte(want), &other))
				assert.Equal(t, clean(one), other)
			}
		}
	}
}

// What a record says is in the row.
func TestRowOfATransition(t *testing.T) {
	r := &api.Record{BusSeq: 7, Index: 3, AtMillis: 1500, Kind: "LIFECYCLE", AgentID: "a", Tick: 2, Body: json.RawMessage(
		`{"from":"ACTIVE","to":"FAULTED","trigger":"error","caller":"kernel","code":"KILLED","class":"PERMANENT","reason":"a\u0000b"}`)}
	at := slices.IndexFunc(rules, func(one rule) bool { return one.kind == "LIFECYCLE" })
	args, err := rules[at].args(r)
	require.NoError(t, err)
	assert.Equal(t, "[a 3 1970-01-01 00:00:01.5 +0000 UTC 2 ACTIVE FAULTED error kernel KILLED PERMANENT a\uFFFDb]", fmt.Sprint(args),
		"PostgreSQL has no character 0")
	r.Tick, r.Body = 0, json.RawMessage(`{"from":"DEFINED","to":"SPAWNED","trigger":"spawn","caller":"client"}`)
	args, err = rules[at].args(r)
	require.NoError(t, err)
	assert.Nil(t, args[3], "what is not said is null")
	assert.Nil(t, args[8])
}

// Migrations are numbered densely, up to the version that this binary knows.
func TestMigrations(t *testing.T) {
	found, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	require.Len(t, found, SchemaVersion)
	for i, name := range found {
		assert.Equal(t, fmt.Sprintf("migrations/%04d.sql", i+1), name)
	}
}

// Whether to try again depends on what the server said, and where it said
// nothing on whether the connection is there.
func TestWhatPasses(t *testing.T) {
	said := func(code string) error { return fmt.Errorf("write: %w", &pgconn.PgError{Code: code}) }
	for code, want := range map[string]bool{
		"57P01": true, "57P03": true, "08006": true, "40001": true, "40P01": true, "53300": true, "53100": true, "55P03": true, "58030": true, "25006": true,
		"28P01": false, "3D000": false, "42501": false, "42P01": false, "22021": false, "23505": false, "25P02": false,
	} {
		assert.Equal(t, want, passing(said(code)), code)
		assert.Equal(t, want, passing(&cutError{said(code)}), "%s, and hung up", code)
	}
	assert.True(t, passing(&cutError{errors.New("connection refused")}))
	assert.False(t, passing(errors.New("unable to encode")))
	assert.False(t, passing(&SchemaError{9}))
}

func TestOptions(t *testing.T) {
	good := Options{DSN: "postgres://u@h/d", Schema: "omni", Batch: 10}
	require.NoError(t, good.check())
	for option, change := range map[string]func(*Options){
		"dsn":    func(o *Options) { o.DSN = "postgres://u:secret@h:port/d" },
		"schema": func(o *Options) { o.Schema = "" },
		"batch":  func(o *Options) { o.Batch = MaxBatch + 1 },
	} {
		o := good
		change(&o)
		var wrong *OptionError
		err := o.check()
		require.ErrorAs(t, err, &wrong, option)
		assert.Equal(t, option, wrong.Option)
		assert.NotContains(t, err.Error(), "secret")
	}
}
