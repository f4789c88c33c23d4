package main

import "os"

// secretFromEnvironment resolves `secret:NAME` in the header values of
// http.request from this node's environment (TO-7): OMNI_SECRET_NAME is the
// value, and OMNI_SECRET_NAME_FOR the one origin that may have it, such as
// https://api.example.com. A secret without an origin is given to nobody.
func secretFromEnvironment(name, origin string) (string, bool) {
	for _, c := range []byte(name) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return "", false
		}
	}
	value, ok := os.LookupEnv("OMNI_SECRET_" + name)
	if !ok || name == "" || os.Getenv("OMNI_SECRET_"+name+"_FOR") != origin {
		return "", false
	}
	return value, true
}
