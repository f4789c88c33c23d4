package httprequest

import (
	"net/http"
	"strconv"
	"time"
)

// retryAfter is how long a service that is too busy asks to be left alone (RFC 9110
// section 10.2.3): seconds, or a date. What is neither asks for nothing.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
