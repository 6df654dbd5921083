"""Asks the language server what a file of requests says, and prints the answers.

    lsp_client.py SERVER MODEL.mlir

A line of the model ending in `// REQUEST` asks that of the place that a `|` in the line
marks, which is not part of the model: hover, definition, references, or complete PREFIX,
which prints the names that begin with PREFIX.
"""

import json
import subprocess
import sys


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


def read_model(path):
    """Returns the text, and (kind, line, column) of each request."""
    text, requests = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            code, mark, request = line.rstrip("\n").partition("// ")
            if mark and "|" in code:
                requests.append((request, number, code.index("|")))
                line = code.replace("|", "", 1) + "\n"
            text.append(line)
    return "".join(text), requests


METHODS = {"hover": "hover", "definition": "definition", "references": "references",
           "complete": "completion"}


def format_answer(request, result):
    kind, _, prefix = request.partition(" ")
    if kind == "hover":
        return result["contents"]["value"].rstrip("\n") if result else "nothing"
    if kind == "complete":
        return ", ".join(sorted({f"{item['label']} ({item['detail']})" if item.get("detail")
                                 else item["label"] for item in result["items"]
                                 if item["label"].startswith(prefix)}))
    places = [place["range"]["start"] for place in result]
    return ", ".join(f"{place['line'] + 1}:{place['character'] + 1}" for place in places)


def main():
    text, requests = read_model(sys.argv[2])
    document = {"uri": "test:///f.mlir", "languageId": "mlir", "version": 1}
    messages = [
        {"id": "initialize", "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {**document, "text": ""}}},
        # The whole text as a change, as editors send what is typed.
        {"method": "textDocument/didChange",
         "params": {"textDocument": {**document, "version": 2},
                    "contentChanges": [{"text": text}]}},
        {"id": "symbols", "method": "textDocument/documentSymbol",
         "params": {"textDocument": document}},
    ]
    for number, (request, line, column) in enumerate(requests):
        messages.append({
            "id": number, "method": "textDocument/" + METHODS[request.split()[0]],
            "params": {"textDocument": document, "context": {"includeDeclaration": False,
                                                             "triggerKind": 1},
                       "position": {"line": line, "character": column}}})
    messages += [{"id": "shutdown", "method": "shutdown"}, {"method": "exit"}]
    server = subprocess.run([sys.argv[1]], input=b"".join(map(encode, messages)),
                            stdout=subprocess.PIPE, check=False, timeout=60)
    for message in decode(server.stdout):
        if message.get("method") == "textDocument/publishDiagnostics":
            for entry in message["params"]["diagnostics"]:
                line = entry["range"]["start"]["line"] + 1
                print(f"diagnostic at line {line}: {entry['message']}")
        elif "error" in message:
            print(f"error: {message['error']['message']}")
        elif message["id"] == "initialize":
            print(message["result"]["serverInfo"]["name"],
                  message["result"]["serverInfo"]["version"])
        elif message["id"] == "symbols":
            print("symbols:", ", ".join(symbol["name"] for symbol in message["result"]))
        elif message["id"] != "shutdown":
            request, line, _ = requests[message["id"]]
            print(f"line {line + 1}, {request}:")
            print(format_answer(request, message["result"]))
    print("exit code", server.returncode)


main()
