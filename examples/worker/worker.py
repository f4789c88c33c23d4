"""A worker in Python, with nothing but its standard library: python3 worker.py [TOOL …]"""
import http.client, json, os, sys, threading, time, urllib.error, urllib.request

servers = os.environ.get("OMNI_SERVER", "http://127.0.0.1:7700").split(",")
tools = sys.argv[1:] or ["pages.words"]


def ask(path, body, timeout=10):
    """Asks the leader until it answers; None when it says that the call is not ours any more."""
    while True:
        server = servers[0]
        try:
            url = server + "/v1/kernels/default/workers" + path
            request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            error = json.load(refused)
            if error["code"] in ("LEASE_LOST", "STALE_RESULT"):
                return None
            if refused.code == 422:
                raise ValueError(error["message"])
            follow = error.get("leader", {}).get("api")
        except (OSError, http.client.HTTPException):
            follow = None
        rest = [other for other in servers if other not in (server, follow)]
        servers[:] = ([follow] if follow else []) + rest + ([server] if server != follow else [])
        time.sleep(0.2)


def words(url):
    with urllib.request.urlopen(url, timeout=50) as page:
        return len(page.read().split())


def make(call):
    lease, done = "/leases/" + call["lease"], threading.Event()

    def beat():
        while not done.wait(call["lease_ms"] / 3000) and ask(lease + "/heartbeat", {}):
            pass

    threading.Thread(target=beat, daemon=True).start()
    try:
        what, body = "/complete", {"result": {"words": words(call["args"]["url"])}}
    except Exception as error:
        what, body = "/fail", {"message": type(error).__name__}
    done.set()
    print(call["tool"], call["idempotency_key"], body, ask(lease + what, body) or "not ours any more", flush=True)


while True:
    for call in ask("/poll", {"tools": tools, "worker": "python", "wait_ms": 20000}, timeout=40)["calls"]:
        make(call)
