package main

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster/traces"
)

// tracesTo says where this node's traces go: by its flag, or by the variables that
// OpenTelemetry has for it. nil is nowhere.
func (f serverFlags) tracesTo() (*traces.Sender, error) {
	target := cmp.Or(f.otlp, os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if target != "" {
		target = strings.TrimSuffix(target, "/") + "/v1/traces"
	}
	if whole := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); f.otlp == "" && whole != "" {
		target = whole
	}
	if target == "" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	to := traces.Target{URL: target, Timeout: 10 * time.Second}
	if millis := either("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"); millis != "" {
		n, err := strconv.ParseUint(millis, 10, 31)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %q must be milliseconds, from 1", millis)
		}
		to.Timeout = time.Duration(n) * time.Millisecond
	}
	var err error
	if to.Headers, _, err = pairs("OTEL_EXPORTER_OTLP_HEADERS", either("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
		return nil, err
	}
	if to.Attributes, to.Order, err = pairs("OTEL_RESOURCE_ATTRIBUTES", os.Getenv("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return nil, err
	}
	for _, own := range [][2]string{
		{"service.name", os.Getenv("OTEL_SERVICE_NAME")}, {"service.version", thisBuild().Version},
		{"service.instance.id", f.node}, {"omni.cluster", f.cluster}, {"omni.kernel", f.kernel},
	} {
		name, value := own[0], own[1]
		if _, given := to.Attributes[name]; given && (value == "" || name == "service.version") {
			continue
		}
		if !slices.Contains(to.Order, name) {
			to.Order = append(to.Order, name)
		}
		to.Attributes[name] = cmp.Or(value, "omni")
	}
	return traces.NewSender(to)
}

func either(first, second string) string { return cmp.Or(os.Getenv(first), os.Getenv(second)) }

// pairs reads a list of name=value with commas between, its values percent-encoded.
func pairs(variable, list string) (found map[string]string, order []string, err error) {
	found = make(map[string]string)
	for pair := range strings.SplitSeq(list, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		plain, problem := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || problem != nil {
			return nil, nil, fmt.Errorf("%s: %q must be name=value", variable, name)
		}
		if _, twice := found[name]; !twice {
			order = append(order, name)
		}
		found[name] = plain
	}
	return found, order, nil
}
