package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// targetLabels are what Prometheus itself puts to every series.
var targetLabels = []string{"job", "instance"}

// The words of PromQL that alerts and panels here use. Others are added with their first use.
var (
	promFunctions = []string{
		"changes", "count", "delta", "histogram_quantile", "increase", "max", "min", "min_over_time", "predict_linear", "rate", "sum", "time", "topk",
	}
	promGroupings = []string{"by", "on"}
	promOperators = []string{"and", "or"}
	docsPage      = regexp.MustCompile(`docs/([a-z-]+\.md)(?:#([a-z0-9-]+))?`)
	promTokens    = regexp.MustCompile(`"[^"]*"|[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9.]+[a-z]*|=~|!~|!=|==|>=|<=|[-+*/<>=(){}\[\],]|\s+|.`)
)

// requireNames holds an expression to what is exported: its brackets close, every word
// is one of PromQL's or a metric that is there, and every label is one of its metrics'.
// It gives the metrics that it names.
func requireNames(t *testing.T, all families, expression string) (names []string) {
	t.Helper()
	var open []string // what closes what is open
	var tokens []string
	for _, token := range promTokens.FindAllString(expression, -1) {
		if strings.TrimSpace(token) != "" {
			tokens = append(tokens, token)
		}
	}
	at := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return tokens[i]
	}
	known, asked := slices.Clone(targetLabels), []string(nil)
	var selected *dto.MetricFamily // whose labels are named
	grouping := false
	for i, token := range tokens {
		switch {
		case strings.Contains("({[", token):
			open = append(open, map[string]string{"(": ")", "{": "}", "[": "]"}[token])
			grouping = token == "(" && slices.Contains(promGroupings, at(i-1))
		case strings.Contains(")}]", token):
			require.NotEmpty(t, open, "%s", expression)
			require.Equal(t, open[len(open)-1], token, "%s", expression)
			open, grouping = open[:len(open)-1], false
		case grouping && token != ",":
			asked = append(asked, token)
		case len(open) > 0 && open[len(open)-1] == "}":
			if value := strings.Trim(at(i+2), `"`); isWord(token) {
				require.Contains(t, append(labelsOf(selected), targetLabels...), token, "%s", expression)
				if at(i+1) == "=" && !strings.HasPrefix(value, "$") && selected.GetType() == dto.MetricType_GAUGE {
					require.True(t, slices.ContainsFunc(selected.GetMetric(), func(m *dto.Metric) bool { return labelled(m, []string{token, value}) }),
						"%s has %s=%q: %s", selected.GetName(), token, value, expression)
				}
			}
		case !isWord(token), slices.Contains(promOperators, token):
		case slices.Contains(promGroupings, token), slices.Contains(promFunctions, token) && (at(i+1) == "(" || at(i+1) == "by"):
			require.Contains(t, []string{"(", "by"}, at(i+1), "%s", expression)
		case token == "up":
			selected = &dto.MetricFamily{}
		default:
			var base string
			selected, base = all.find(token)
			require.NotNil(t, selected, "%s is exported: %s", token, expression)
			names, known = append(names, base), append(known, labelsOf(selected)...)
			if selected.GetType() == dto.MetricType_HISTOGRAM {
				known = append(known, "le")
			}
		}
	}
	require.Empty(t, open, "%s", expression)
	for _, label := range asked {
		require.Contains(t, known, label, "%s", expression)
	}
	return names
}

func isWord(token string) bool {
	return token != "" && (token[0] == '_' || token[0] >= 'a' && token[0] <= 'z' || token[0] >= 'A' && token[0] <= 'Z')
}

// find finds the family that a series belongs to.
func (f families) find(series string) (*dto.MetricFamily, string) {
	if found, ok := f[series]; ok {
		return found, series
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, cut := strings.CutSuffix(series, suffix); cut && f[base].GetType() == dto.MetricType_HISTOGRAM {
			return f[base], base
		}
	}
	return nil, ""
}

// deploy/prometheus/alerts.yml parses, names only what is there, and says of every alert
// what to do.
func seenAlerts(t *testing.T, all families) {
	content, err := os.ReadFile("../../deploy/prometheus/alerts.yml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(content)))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&file))
	seen := make(map[string]bool)
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			requireNames(t, all, rule.Expr)
			require.False(t, seen[rule.Alert], "%s is there once", rule.Alert)
			seen[rule.Alert] = true
			require.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["runbook"], rule.Alert)
			for _, page := range docsPage.FindAllStringSubmatch(rule.Annotations["runbook"], -1) {
				require.FileExists(t, filepath.Join("../../docs", page[1]), rule.Alert)
				require.True(t, page[2] == "" || hasAnchor(partsOf(t, page[1]), page[2]), "%s: %s", rule.Alert, page[0])
			}
		}
	}
	require.Greater(t, len(seen), 15)
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "\n## Alerts\n")
	require.True(t, found)
	require.ElementsMatch(t, first(table), slices.Collect(maps.Keys(seen)), "docs/operations.md has every alert, and no other")
}

// deploy/grafana/omni.json parses, names only what is there, and shows every metric of
// ours.
func seenDashboard(t *testing.T, all families) {
	content, err := os.ReadFile("../../deploy/grafana/omni.json")
	require.NoError(t, err)
	var board struct {
		UID    string
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(content, &board))
	require.NotEmpty(t, board.UID)
	shown := map[string]bool{
		// The dashboard's own variable, and what others there say better.
		"omni_build_info": true, "omni_kernel_clock_seconds": true, "omni_kernel_log_segments": true,
		"omni_node_disk_bytes": true, "omni_backup_failures": true,
	}
	ids := make(map[int]bool)
	for _, panel := range board.Panels {
		require.False(t, ids[panel.ID], "panel ids differ")
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			// Grafana puts a duration in its place.
			for _, name := range requireNames(t, all, strings.ReplaceAll(target.Expr, "$__rate_interval", "1m")) {
				shown[name] = true
			}
		}
	}
	for _, name := range all.ours() {
		require.True(t, shown[name], "the dashboard shows %s", name)
	}
}
