package httpapi

// RoutesWithoutAccess lists routes that no line of the table judges, and lines without
// a route.
func (s *Server) RoutesWithoutAccess() (routes, lines []string) {
	known := make(map[string]bool)
	for _, rt := range s.table() {
		known[rt.id] = true
		if s.access[rt.id].rule == denied {
			routes = append(routes, rt.id)
		}
	}
	for id := range s.access {
		if !known[id] {
			lines = append(lines, id)
		}
	}
	return routes, lines
}
