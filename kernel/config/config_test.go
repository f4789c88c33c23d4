package config_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

func valid() config.Config {
	c := config.Default()
	c.ClusterID = "test"
	return c
}

// EV-8: the defaults are a configuration that the kernel can keep.
func TestDefaultsAreValid(t *testing.T) {
	c := valid()
	require.Nil(t, c.Check())
}

// EV-8: every limit has a lower and an upper bound, and a refusal names it.
func TestEveryLimitIsChecked(t *testing.T) {
	shape := reflect.TypeFor[config.Config]()
	checked := 0
	for i := range shape.NumField() {
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		extremes := []uint64{0, math.MaxUint64}
		if shape.Field(i).Name == "VersionSeq" {
			extremes = []uint64{1, math.MaxUint64} // no limit: the kernel's own
		}
		for _, extreme := range extremes {
			c := valid()
			field := reflect.ValueOf(&c).Elem().Field(i)
			switch field.Kind() {
			case reflect.Uint32, reflect.Uint64:
				field.SetUint(extreme & (1<<field.Type().Bits() - 1))
			case reflect.Int64:
				field.SetInt(int64(extreme >> 1)) // 0, and the greatest
			case reflect.String:
				field.SetString(strings.Repeat("x", int(extreme&127)))
			default:
				require.Equal(t, "Seed", shape.Field(i).Name, "a limit of a kind that this test does not know")
				continue
			}
			refusal := c.Check()
			require.NotNil(t, refusal, "%s = %v", name, field)
			assert.Equal(t, failure.InvalidArgument, refusal.Code)
			assert.Equal(t, "config."+name, refusal.Field)
			checked++
		}
	}
	require.Equal(t, 2*(shape.NumField()-1), checked)
}

// CL-3: a dropped session must be too old to be opened again, even one whose
// id was minted by a clock ahead.
func TestIdleTimeCoversOpening(t *testing.T) {
	c := valid()
	c.SessionOpenMillis, c.SessionIdleMillis = 1_000, 1_999
	refusal := c.Check()
	require.NotNil(t, refusal)
	require.Equal(t, "config.session_idle_ms", refusal.Field)
	c.SessionIdleMillis = 2_000
	require.Nil(t, c.Check())
}

// EV-8: what is committed is what was proposed.
func TestRoundTrip(t *testing.T) {
	c := valid()
	c.Seed = [16]byte{1, 2, 3}
	back, ok := event.DecodeBody[config.Config](event.Encode(c))
	require.True(t, ok)
	require.Equal(t, c, *back)
	require.Equal(t, event.Encode(c), event.Encode(back))
}

// EV-9: what a version brought is absent before it, in the bytes as well, and has
// its limits from it on.
func TestVersions(t *testing.T) {
	c := valid()
	old := c.At(1)
	require.Nil(t, old.Check())
	later := reflect.ValueOf(old)
	shape := later.Type()
	for i := range shape.NumField() {
		if strings.Contains(shape.Field(i).Tag.Get("cbor"), "omitempty") {
			assert.Zero(t, later.Field(i).Interface(), shape.Field(i).Name)
		}
	}
	require.Equal(t, c, old.At(config.Version), "what a version brings has its defaults …")
	c.LogWarnBytes = 77
	require.EqualValues(t, 77, c.At(config.Version).LogWarnBytes, "… where it is not set")
	for name, change := range map[string]func(*config.Config){
		"config.log_warn_bytes":  func(c *config.Config) { c.LogWarnBytes = 1 },
		"config.log_error_bytes": func(c *config.Config) { c.LogErrorBytes = 1 },
		"config.version":         func(c *config.Config) { c.Version = config.Version + 1 },
		"config.version_seq":     func(c *config.Config) { c.VersionSeq = 1 },
	} {
		c := valid()
		c = c.At(1)
		change(&c)
		refusal := c.Check()
		require.NotNil(t, refusal, name)
		assert.Equal(t, name, refusal.Field)
	}
	c.LogErrorBytes = c.LogWarnBytes - 1
	require.Equal(t, "config.log_error_bytes", c.Check().Field)
}
