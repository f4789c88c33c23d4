package main

import (
	"bytes"
	"debug/buildinfo"
	"runtime/debug"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// materials lists what a program is built from, as the program itself has it: its
// modules, with the sums that they were checked by, and the standard library. It has no
// serial number and no time, so that the same program gives the same list.
func (r *release) materials(binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	return encode(listOf(info, r.version))
}

func listOf(info *debug.BuildInfo, version string) *cyclonedx.BOM {
	product := component(info.Main.Path, version, "")
	product.Type = cyclonedx.ComponentTypeApplication
	needs := cyclonedx.Dependency{Ref: product.BOMRef}
	library := component("std", strings.TrimPrefix(info.GoVersion, "go"), "")
	components, refs := []cyclonedx.Component{library}, []string{library.BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(m.Path, m.Version, m.Sum)
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	needs.Dependencies = &refs
	list := cyclonedx.NewBOM()
	list.Metadata = &cyclonedx.Metadata{Component: &product}
	list.Components, list.Dependencies = &components, &[]cyclonedx.Dependency{needs}
	return list
}

func component(path, version, sum string) cyclonedx.Component {
	where := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: where, Name: path, Version: version, PackageURL: where}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}

func encode(list *cyclonedx.BOM) ([]byte, error) {
	var out bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(list, cyclonedx.SpecVersion1_6)
	return out.Bytes(), err
}
