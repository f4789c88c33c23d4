// Package recovery counts how often a tick has been retried (FA-1): at most
// max_retries per tickSeq, each after a backoff that doubles. When it is over
// the fault is PERMANENT. The flows decide; this package takes their records in.
package recovery
