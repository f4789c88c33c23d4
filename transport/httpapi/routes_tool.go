package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api"
)

// toolRoutes are what there is about registered tools (TO-9).
func (s *Server) toolRoutes() []*route {
	register := &route{
		method: http.MethodPost, path: kernelPath + "/tools", id: "register-tool", tag: "tools",
		summary: "Register a tool, or another revision of one",
		about:   "The body is its manifest. The answer's version is the revision: the busSeq of the registration. The same manifest again changes nothing, and is answered with the revision that there is, which is lower than bus_seq then. Running calls keep the revision that they were requested with.",
		command: true, body: typeOf[tools.Manifest](), status: http.StatusOK, answer: typeOf[api.Done](),
		handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeRegisterTool),
	}
	deregister := &route{
		method: http.MethodPost, path: kernelPath + "/tools/{name}/deregister", id: "deregister-tool", tag: "tools",
		summary: "Take a tool away from new calls", about: "They are TOOL_UNKNOWN from then on. Running calls go on.",
		command: true, body: typeOf[api.DeregisterBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.Done](),
		handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeDeregisterTool),
	}
	return []*route{
		register, deregister,
		s.reader(&route{
			path: kernelPath + "/tools/{name}", id: "get-tool", tag: "tools", summary: "One registered tool, with its manifest",
			query: with(), answer: typeOf[api.Tool](),
		}, s.getTool),
		s.reader(&route{
			path: kernelPath + "/tools", id: "list-tools", tag: "tools", summary: "Registered tools, by name",
			query: with(parameter{name: "after", about: "name of the tool to start after", schema: "string"}, limitParam), answer: typeOf[api.ToolPage](),
		}, s.listTools),
	}
}
