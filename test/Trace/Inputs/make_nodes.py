"""Writes a trace of many small nodes in the JSON form of messages.

    make_nodes.py COUNT FILE
"""

import sys

with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write('{"version": "0.0.4"}\n')
    file.writelines('{"id": "%d",\n "type": "COMP_NODE"}\n' % i for i in range(int(sys.argv[1])))
