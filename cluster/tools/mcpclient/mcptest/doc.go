// Package mcptest is a real server of the Model Context Protocol for tests, built with the
// protocol's SDK and run as a process: over stdin and stdout, or over HTTP. A test's
// TestMain calls Main, which takes the process over when it was started as one.
//
// The server notes every call in a file, so that what was called is known however the
// server ended. Its tools answer, fail, hang, crash, flood and talk nonsense.
package mcptest
