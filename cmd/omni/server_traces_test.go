package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where traces go: the flag, else what OpenTelemetry's variables say, else nowhere.
func TestWhereTracesGo(t *testing.T) {
	for _, variable := range []string{"ENDPOINT", "TRACES_ENDPOINT", "HEADERS", "TRACES_HEADERS", "TIMEOUT", "TRACES_TIMEOUT"} {
		t.Setenv("OTEL_EXPORTER_OTLP_"+variable, "")
	}
	t.Setenv("OTEL_SDK_DISABLED", "")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=a%20b, service.name=shop")
	to := func(flag string) (bool, error) {
		s, err := serverFlags{node: "n1", otlp: flag}.tracesTo()
		return s != nil, err
	}
	some, err := to("")
	require.NoError(t, err)
	require.False(t, some)
	some, err = to("http://127.0.0.1:4318")
	require.NoError(t, err)
	require.True(t, some)
	_, err = to("127.0.0.1:4318")
	require.ErrorContains(t, err, "must be a URL")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/")
	some, err = to("")
	require.NoError(t, err)
	require.True(t, some)
	t.Setenv("OTEL_SDK_DISABLED", "true")
	some, err = to("")
	require.NoError(t, err)
	require.False(t, some)
	t.Setenv("OTEL_SDK_DISABLED", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")
	_, err = to("")
	require.ErrorContains(t, err, "milliseconds")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "no-value")
	_, err = to("")
	require.ErrorContains(t, err, "name=value")

	found, order, err := pairs("X", " a=1 ,b=x%2Cy,a=2,")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, order)
	require.Equal(t, map[string]string{"a": "2", "b": "x,y"}, found)
}
