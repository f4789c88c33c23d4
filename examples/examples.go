package examples

import _ "embed" // the files are part of the program

// HelloName is where HelloAgent stands, for messages.
const HelloName = "examples/hello/agent.yaml"

// HelloAgent is hello/agent.yaml.
//
//go:embed hello/agent.yaml
var HelloAgent []byte
