"""A web server can be started and asked on the loopback."""

import http.client
import http.server
import sys
import threading

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_http_loopback"


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *words):
        pass


def exercise():
    server = http.server.HTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.handle_request, daemon=True).start()
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    client.request("GET", "/")
    assert client.getresponse().read() == b"hello"
    server.server_close()
    return "HTTP on 127.0.0.1"


main(CAPABILITY, exercise)
