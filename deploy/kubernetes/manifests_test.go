package kubernetes

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// manifests are the documents of omni.yaml, each of its own type.
type manifests struct {
	accounts []core.ServiceAccount
	services []core.Service
	budgets  []policy.PodDisruptionBudget
	sets     []apps.StatefulSet
}

func into[T any](list *[]T, raw []byte) error {
	var v T
	text, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(text, &v)
	*list = append(*list, v)
	return errors.Join(append(strict, err)...)
}

// read takes nothing that the API's types do not have: no unknown field, none twice.
func read(t *testing.T, text []byte) (m manifests, err error) {
	t.Helper()
	for _, raw := range bytes.Split(text, []byte("\n---\n")) {
		var kind meta.TypeMeta
		require.NoError(t, yaml.Unmarshal(raw, &kind))
		switch kind.APIVersion + "/" + kind.Kind {
		case "v1/ServiceAccount":
			err = into(&m.accounts, raw)
		case "v1/Service":
			err = into(&m.services, raw)
		case "policy/v1/PodDisruptionBudget":
			err = into(&m.budgets, raw)
		case "apps/v1/StatefulSet":
			err = into(&m.sets, raw)
		default:
			require.Fail(t, "a kind that nobody checks", kind.String())
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

func file(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("omni.yaml")
	require.NoError(t, err)
	return text
}

// What the manifests say of each other fits together.
func TestManifests(t *testing.T) {
	m, err := read(t, file(t))
	require.NoError(t, err)
	require.Len(t, m.sets, 1)
	require.Len(t, m.services, 2)
	require.Len(t, m.budgets, 1)
	require.Len(t, m.accounts, 1)
	set, template := m.sets[0], m.sets[0].Spec.Template
	require.Len(t, template.Spec.Containers, 1)
	container := template.Spec.Containers[0]

	selects := func(selector *meta.LabelSelector) bool {
		s, err := meta.LabelSelectorAsSelector(selector)
		require.NoError(t, err)
		return s.Matches(labels.Set(template.Labels))
	}
	assert.True(t, selects(set.Spec.Selector))
	assert.True(t, selects(m.budgets[0].Spec.Selector))
	assert.Equal(t, intstr.FromInt32(1), *m.budgets[0].Spec.MaxUnavailable)
	assert.True(t, selects(template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector))
	ports := make(map[string]int32)
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
	}
	assert.Equal(t, map[string]int32{"api": 7700, "raft": 7800}, ports)
	for _, service := range m.services {
		assert.True(t, labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(template.Labels)), service.Name)
		for _, port := range service.Spec.Ports {
			assert.Equal(t, ports[port.TargetPort.String()], port.Port, "%s of %s", port.Name, service.Name)
		}
		if service.Name == set.Spec.ServiceName {
			assert.Equal(t, core.ClusterIPNone, service.Spec.ClusterIP)
			assert.True(t, service.Spec.PublishNotReadyAddresses, "nodes need each other to become ready")
		}
	}
	assert.Equal(t, m.accounts[0].Name, template.Spec.ServiceAccountName)

	arguments := strings.Join(container.Args, "\n")
	assert.Contains(t, arguments, "--api-addr=0.0.0.0:7700\n--raft-addr=0.0.0.0:7800\n")
	assert.EqualValues(t, strings.Count(arguments, "--peer="), *set.Spec.Replicas)
	volumes := make(map[string]bool)
	for _, volume := range template.Spec.Volumes {
		volumes[volume.Name] = true
	}
	for _, claim := range set.Spec.VolumeClaimTemplates {
		volumes[claim.Name] = true
	}
	for _, mount := range container.VolumeMounts {
		assert.True(t, volumes[mount.Name], mount.Name)
	}
	for name, probe := range map[string]*core.Probe{"startup": container.StartupProbe, "liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
		require.NotNil(t, probe, name)
		assert.Equal(t, name == "readiness", strings.Contains(strings.Join(probe.Exec.Command, " "), "--healthy"), name)
	}
	held := container.SecurityContext
	assert.True(t, *held.ReadOnlyRootFilesystem)
	assert.False(t, *held.AllowPrivilegeEscalation)
	assert.Equal(t, []core.Capability{"ALL"}, held.Capabilities.Drop)
	assert.True(t, *template.Spec.SecurityContext.RunAsNonRoot)
}

// What the types do not have is noticed.
func TestAnUnknownFieldIsNoticed(t *testing.T) {
	for _, change := range [][2]string{{"readinessProbe:", "readynessProbe:"}, {"maxUnavailable:", "maxUnavailible:"}, {"clusterIP:", "clusterIp:"}} {
		_, err := read(t, []byte(strings.Replace(string(file(t)), change[0], change[1], 1)))
		assert.ErrorContains(t, err, "unknown field", change[1])
	}
}
