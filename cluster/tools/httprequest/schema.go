package httprequest

// argsSchema is what a call takes. A body that is text is sent as it is; any
// other value is sent as JSON. `idempotent` is read by the kernel (TO-4), and so is
// `cost` (RU-5).
const argsSchema = `{
  "type": "object",
  "properties": {
    "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
               "description": "GET if left out"},
    "url": {"type": "string", "maxLength": 8192,
            "description": "absolute, http or https, without user, fragment or dot segments"},
    "headers": {"type": "object", "maxProperties": 64,
                "additionalProperties": {"type": "string", "maxLength": 8192},
                "description": "a last word secret:NAME is replaced on the node that sends"},
    "body": {"description": "text is sent as it is, any other value as JSON"},
    "idempotent": {"type": "boolean",
                   "description": "the receiver honours Idempotency-Key, so the call may be sent again"},
    "cost": {"type": "object",
             "properties": {"tokens": {"type": "integer", "minimum": 0, "maximum": 1099511627776},
                            "usd_micros": {"type": "integer", "minimum": 0, "maximum": 1099511627776}},
             "additionalProperties": false,
             "description": "the most that the call may come to, reserved in the budgets that it is charged to"}
  },
  "required": ["url"],
  "additionalProperties": false
}`

// resultSchema is what a call gives: body is the JSON value where the answer
// says it is JSON (null when it is empty), otherwise text.
const resultSchema = `{
  "type": "object",
  "properties": {
    "status": {"type": "integer", "minimum": 100, "maximum": 999},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    "body": true
  },
  "required": ["status", "headers", "body"],
  "additionalProperties": false
}`
