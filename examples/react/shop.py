"""A shop with two orders. python3 shop.py [PORT], 7790 when there is none.

GET /orders/17, POST /orders/17/refunds {"cents", "reason"}, GET /refunds
"""
import http.server
import json
import re
import sys
import threading

ORDERS = {
    17: {"order": 17, "item": "teapot", "cents": 2400, "state": "delivered"},
    18: {"order": 18, "item": "cup", "cents": 900, "state": "on its way"},
}
REFUNDS = []
LOCK = threading.Lock()


class Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = re.fullmatch(r"/orders/(\d+)", self.path)
        with LOCK:
            if self.path == "/refunds":
                return self.answer(200, REFUNDS)
            order = found and ORDERS.get(int(found[1]))
            if not order:
                return self.answer(404, {})
            made = sum(r["cents"] for r in REFUNDS if r["order"] == order["order"])
            self.answer(200, {**order, "refunded_cents": made})

    def do_POST(self):
        wants = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = re.fullmatch(r"/orders/(\d+)/refunds", self.path)
        if not found or int(found[1]) not in ORDERS:
            return self.answer(404, {})
        with LOCK:
            refund = {"refund": len(REFUNDS) + 1, "order": int(found[1]), **wants, "key": self.headers["Idempotency-Key"]}
            REFUNDS.append(refund)
            self.answer(201, refund)

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 7790), Shop)
print(f"the shop is at http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
