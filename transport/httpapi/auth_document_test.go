package httpapi_test

// authRoutes are those about who may do what.
var authRoutes = []string{
	"GET /v1/kernels/{kernel}/auth/credentials", "GET /v1/kernels/{kernel}/auth/principals", "GET /v1/kernels/{kernel}/auth/principals/{name}", "GET /v1/kernels/{kernel}/auth/roles",
	"GET /v1/kernels/{kernel}/auth/roles/{name}", "GET /v1/kernels/{kernel}/auth/status", "GET /v1/kernels/{kernel}/auth/whoami",
	"POST /v1/kernels/{kernel}/auth/bootstrap", "POST /v1/kernels/{kernel}/auth/credentials", "POST /v1/kernels/{kernel}/auth/credentials/{credential}/revoke",
	"POST /v1/kernels/{kernel}/auth/principals/{name}", "POST /v1/kernels/{kernel}/auth/principals/{name}/delete", "POST /v1/kernels/{kernel}/auth/roles/{name}", "POST /v1/kernels/{kernel}/auth/roles/{name}/delete",
}
