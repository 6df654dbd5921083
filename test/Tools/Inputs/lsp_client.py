"""Opens a model with a mistake in the language server and prints what it reports."""

import json
import subprocess
import sys

MODEL = """func.func @f() {

  %w = stg.param "w" : !stg.tensor<[Q], f32>
  return
}
"""


def encode(message):
    """One message in the framing of the language server protocol."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def decode(stream):
    """Yields the messages of the server's output."""
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1])
        yield json.loads(rest[:length])
        stream = rest[length:]


def main():
    document = {"uri": "test:///f.mlir", "languageId": "mlir", "version": 1}
    messages = [
        {"id": 0, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized", "params": {}},
        {
            "method": "textDocument/didOpen",
            "params": {"textDocument": {**document, "text": MODEL}},
        },
        {"id": 1, "method": "shutdown"},
        {"method": "exit"},
    ]
    server = subprocess.run(
        [sys.argv[1]],
        input=b"".join(map(encode, messages)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    for message in decode(server.stdout):
        if message.get("id") == 0 and "capabilities" in message["result"]:
            print("initialized")
        if message.get("method") == "textDocument/publishDiagnostics":
            for entry in message["params"]["diagnostics"]:
                line = entry["range"]["start"]["line"]
                print(f"diagnostic at line {line}: {entry['message']}")


main()
